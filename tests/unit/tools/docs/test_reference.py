"""The reference and the man pages match the help of the commands."""

import pytest

from tools.docs.pages import ROOT
from tools.docs.reference import manual, outputs
from tools.docs.verbs import Option, Verb, sections


@pytest.mark.parametrize("path", outputs())
def test_what_is_committed_is_what_the_commands_say(path: str) -> None:
    committed = (ROOT / path).read_text(encoding="utf-8")

    assert committed == outputs()[path](), "run `make reference`"


def test_every_verb_is_there_with_its_inner_verbs() -> None:
    names = {verb.name for verbs in sections().values() for verb in verbs}

    assert {"nvshare run", "nvshare emulate up", "kubectl nvshare limit"} <= names


def test_signs_of_troff_are_kept_from_it() -> None:
    verb = Verb("x", "x -v", (".hidden", "a\\b"), (Option("--all", "'quoted'"),))

    page = manual("x", "y", [verb])

    assert "\n\\&.hidden\n" in page
    assert "\na\\eb\n" in page
    assert "\n.B \\-\\-all\n\\&'quoted'\n" in page
