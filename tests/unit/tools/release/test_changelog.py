import pytest

from tools.release.changelog import notes, section
from tools.release.tree import ROOT, ReleaseError, version

TEXT = """# Changelog

Words about it.

## [Unreleased]

- not yet

## [1.1.0] - 2026-05-01

### Added

- a thing

## [1.0.0] - 2026-01-01

- the first
"""


def test_a_section_ends_at_the_next_one() -> None:
    assert section(TEXT, "1.1.0") == "### Added\n\n- a thing"
    assert section(TEXT, "1.0.0") == "- the first"
    assert section(TEXT, "2.0.0") is None


def test_what_is_not_released_yet_stands_in_for_a_version_without_section() -> None:
    assert notes(TEXT, "1.1.0") == "### Added\n\n- a thing\n"
    assert notes(TEXT, "1.2.0") == "- not yet\n"


def test_a_version_of_which_nothing_is_said_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"has no section for 3\.0\.0"):
        notes("# Changelog\n\n## [Unreleased]\n\n## [1.0.0]\n\n- x\n", "3.0.0")


def test_there_is_something_to_say_of_this_version() -> None:
    assert notes((ROOT / "CHANGELOG.md").read_text(), version()).startswith("Everything so far")
