"""The glossary: in order, each term once; files that it names exist; the code uses its words."""

import ast
import re
from collections.abc import Iterator

import pytest

from tools.docs.pages import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, _, REST = TEXT.partition("\n## ")
CORE = ROOT / "src" / "nvshare" / "core"
NATIVE = (ROOT / "native" / "interposer", ROOT / "native" / "machine")

# A word of a name: gate_entry, HostRoom, _Level.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def terms() -> list[str]:
    """Return all terms."""
    return re.findall(r"^\| \*\*(.+?)\*\* \|", TERMS, re.MULTILINE)


def plain_words() -> list[str]:
    """Return the words that names may have although they are no terms."""
    table = REST.partition("## Plain words")[2]
    rows = re.findall(r"^\| ([a-z, ]+) \| .", table, re.MULTILINE)
    return [word for row in rows if row != "words" for word in row.split(", ")]


def stem(word: str) -> str:
    """Return a word without its ending: gangs, slicing and sliced are gang and slice."""
    word = re.sub(r"ies$", "y", word.lower())
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending)
            break
    return re.sub(r"(.)\1$", r"\1", word)


def stems(names: list[str]) -> set[str]:
    return {stem(word) for name in names for word in _WORD.findall(name.replace("-", ""))}


def names_of_core() -> Iterator[str]:
    """Return the names of its folders, modules and classes."""
    for path in CORE.rglob("*.py"):
        yield path.parent.name if path.stem == "__init__" else path.stem
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name


def names_of_native() -> Iterator[str]:
    """Return the names of its files."""
    files = (path for folder in NATIVE for path in folder.rglob("*.[ch]"))
    return (path.stem for path in files)


NAMES = sorted({*names_of_core(), *names_of_native()})


def test_terms_are_in_order_and_there_once() -> None:
    assert len(terms()) > 150
    assert terms() == sorted(set(terms()))


def test_files_that_it_names_exist() -> None:
    named = re.findall(r"`([a-z]\w*/[\w./]*)`", TEXT)

    assert len(named) > 2
    folders = (ROOT, ROOT / "src" / "nvshare")
    missing = [name for name in named if not any((one / name).exists() for one in folders)]
    assert missing == []


@pytest.mark.parametrize(
    ("word", "like"),
    [
        ("gangs", "gang"),
        ("policies", "policy"),
        ("slicing", "slice"),
        ("sliced", "slice"),
        ("fitting", "fit"),
        ("residency", "residency"),
        ("busy", "busy"),
    ],
)
def test_endings_do_not_count(word: str, like: str) -> None:
    assert stem(word) == stem(like)
    assert stem("rest") != stem("restore")


def test_each_word_of_a_name_is_a_term_or_a_plain_word() -> None:
    known = stems(terms()) | stems(plain_words())
    unknown = {
        f"{word.lower()} ({name})"
        for name in NAMES
        for word in _WORD.findall(name)
        if stem(word) not in known
    }

    assert len(NAMES) > 200
    assert unknown == set(), "choose a term of docs/glossary.md, or add the word there"


def test_no_plain_word_is_a_term_or_unused() -> None:
    used, are_terms = stems(NAMES), stems(terms())

    assert [word for word in plain_words() if stem(word) not in used] == []
    assert [word for word in plain_words() if stem(word) in are_terms] == []


def test_words_with_one_meaning_are_terms() -> None:
    table = REST.partition("## Plain words")[0]
    words = re.findall(r"^\| ([a-z, ]+) \| .+ \| .+ \|$", table, re.MULTILINE)

    assert len(words) > 8
    only_here = [
        one for one in words if one != "word" and not stems([one]) <= stems([*terms(), "owe"])
    ]
    assert only_here == []
