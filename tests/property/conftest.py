"""Programs here have a few bytes. Their moves are measured all the same, to try both ways."""

from collections.abc import Iterator

import pytest

from nvshare.core.record import ways


@pytest.fixture(autouse=True, scope="package")
def _small_moves_are_measured() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "MEASURABLE_BYTES", 1)
        yield
