"""The part of CHANGELOG.md that a release is announced with."""

import re

from tools.release.tree import DIST, ROOT, ReleaseError, version

_HEADING = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)
UNRELEASED = "Unreleased"


def section(text: str, name: str) -> str | None:
    """Return a version's section of a changelog, without the heading; None: it has none."""
    headings = list(_HEADING.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading[1] == name:
            return text[heading.end() : following.start() if following else len(text)].strip()
    return None


def notes(text: str, name: str) -> str:
    """Return what is new in a version: its section, or that of unreleased changes."""
    found = section(text, name) or section(text, UNRELEASED)
    if not found:
        raise ReleaseError(
            f"CHANGELOG.md has no section for {name}, and none for unreleased changes"
        )
    return f"{found}\n"


def write_notes() -> None:
    """Write what is new, for the page of the release."""
    text = notes((ROOT / "CHANGELOG.md").read_text(), version())
    (DIST / f"nvshare-{version()}-changes.md").write_text(text)
