"""cuda.core, the vendor's objects on top of the driver API, on an emulated node."""

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("program", ["core_objects", "core_programs"])
def test_core(check: Callable[..., None], program: str) -> None:
    check(program)
