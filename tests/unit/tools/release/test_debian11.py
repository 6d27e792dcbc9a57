"""The step that tries a release on Debian 11, as far as it needs no root folder."""

from pathlib import Path

import pytest

from tools.release import debian11, wheels
from tools.release.__main__ import MORE, STEPS
from tools.release.tree import ReleaseError


def test_sources_of_another_suite_are_from_the_same_mirror() -> None:
    assert debian11.with_sources_of(
        "bookworm", "deb http://mirror.test/debian bullseye main\n"
    ) == (
        "deb http://mirror.test/debian bullseye main\n"
        "deb-src http://mirror.test/debian bookworm main\n"
    )


def test_it_is_no_step_of_every_release() -> None:
    assert "debian11" in MORE
    assert "debian11" not in STEPS


def test_it_says_what_to_do_where_nothing_was_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(wheels, "DIST", tmp_path)
    with pytest.raises(ReleaseError, match="run `make release` first"):
        debian11.try_on_debian11()
