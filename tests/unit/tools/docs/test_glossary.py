"""The glossary: in order, each term once; and names are on its list until they have changed."""

import re

from tools.docs.pages import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, _, RENAMES = TEXT.partition("## Names that will change")


def test_terms_are_in_order_and_there_once() -> None:
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", TERMS, re.MULTILINE)

    assert len(terms) > 50
    assert terms == sorted(set(terms))


def exists(name: str) -> bool:
    """Whether there is such a file, or one of C, in the repository or in the package."""
    folders = (ROOT, ROOT / "src" / "nvshare")
    return any((folder / f"{name}{end}").exists() for folder in folders for end in ("", ".c", ".h"))


def test_files_that_will_be_renamed_have_not_been() -> None:
    named = re.findall(r"`([\w/]+/[\w./]*\w)(?:\.\[ch\])?`", RENAMES)

    assert len(named) > 5
    gone = [name for name in named if not exists(name)]
    assert gone == [], "they have been renamed: take them off the list"
