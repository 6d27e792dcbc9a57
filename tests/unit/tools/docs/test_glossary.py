"""The glossary: in order, each term once; files that it names exist."""

import re

from tools.docs.pages import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_terms_are_in_order_and_there_once() -> None:
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", TEXT, re.MULTILINE)

    assert len(terms) > 50
    assert terms == sorted(set(terms))


def test_files_that_it_names_exist() -> None:
    named = re.findall(r"`([a-z]\w*/[\w./]*)`", TEXT)

    assert len(named) > 2
    folders = (ROOT, ROOT / "src" / "nvshare")
    missing = [name for name in named if not any((one / name).exists() for one in folders)]
    assert missing == []
