"""The tree of files repeats the first sentence of each file."""

import re
from pathlib import Path

import pytest

from tools.docs import tree
from tools.docs.pages import ROOT


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", '"""What it is. And more."""', "What it is."),
        ("a.py", '"""Over two\nlines.\n\nMore."""', "Over two lines."),
        ("a.h", "/* What it is,\n * at length. More. */\n", "What it is, at length."),
    ],
)
def test_the_first_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    assert tree.about(tmp_path / name) == said


@pytest.mark.parametrize("text", ["", '"""no sentence"""', "import os"])
def test_who_says_nothing_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "silent.py").write_text(text)
    with pytest.raises(ValueError, match=r"silent\.py has no sentence at its top"):
        tree.about(tmp_path / "silent.py")


def test_every_source_is_listed() -> None:
    page = tree.page()
    for folder in ("src/nvshare", "native/interposer", "lab"):
        for path in (ROOT / folder).rglob("*.py"):
            is_ours = not path.stem.endswith(("_pb2", "_grpc")) and path.name != "__init__.py"
            assert not is_ours or f"| `{path.name}` |" in page


def test_the_laboratory_is_what_is_in_folders_called_lab() -> None:
    page = tree.page()
    product, _, laboratory = page.partition("## The laboratory")
    folders = [re.findall(r"(?m)^### (.+)/$", part) for part in (product, laboratory)]
    in_lab = [{"lab" in folder.split("/") for folder in part} for part in folders]
    assert in_lab == [{False}, {True}]


def test_only_the_tree_of_a_page_changes() -> None:
    text = "before\n<!-- tree: x -->\nwhatever\n<!-- end of tree -->\nafter\n"
    changed = tree.with_tree(text)
    assert "whatever" not in changed
    assert "    src/nvshare/core/" in changed
    assert changed.startswith("before\n<!-- tree: x -->\n")
    assert changed.endswith("\n<!-- end of tree -->\nafter\n")
    assert tree.with_tree(changed) == changed
