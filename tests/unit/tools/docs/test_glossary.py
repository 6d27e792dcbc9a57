"""The glossary: in order, each term once."""

import re

from tools.docs.pages import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_terms_are_in_order_and_there_once() -> None:
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", TEXT, re.MULTILINE)

    assert len(terms) > 50
    assert terms == sorted(set(terms))
