"""Every command on every page exists, and a command that does not exist is found."""

import pytest

from tools.docs.lookup import problem
from tools.docs.pages import ROOT, Block, Span, blocks, pages, spans
from tools.docs.shell import commands, lines_of_commands

# Pages that readers follow step by step: each block says whether it is run.
STEP_BY_STEP = [ROOT / "docs" / "tutorial.md", *(ROOT / "docs" / "howto").glob("*.md")]


def at(place: Block | Span) -> str:
    return f"{place.page.relative_to(ROOT)}:{place.line}"


def test_every_command_in_a_code_block_exists() -> None:
    wrong, seen = [], 0
    for block in (block for page in pages() for block in blocks(page)):
        for line in lines_of_commands(block.text):
            for words in commands(line):
                seen += words[0] == "nvshare"
                if found := problem(words):
                    wrong.append(f"{at(block)}: {found}: {line}")

    assert wrong == []
    assert seen > 100


def test_every_command_within_a_sentence_exists() -> None:
    wrong = [
        f"{at(span)}: {found}: {span.text}"
        for page in pages()
        for span in spans(page)
        if span.text.startswith(("nvshare ", "kubectl nvshare ", "make "))
        for words in commands(span.text)
        if (found := problem(words, is_whole=False))
    ]

    assert wrong == []


def test_pages_to_follow_say_of_every_block_whether_it_is_run() -> None:
    unmarked = [
        at(block)
        for page in STEP_BY_STEP
        for block in blocks(page)
        if lines_of_commands(block.text) and not block.is_marked
    ]

    assert unmarked == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nvshare fly", "no verb 'fly'"),
        ("nvshare status --fast", "No such option"),
        ("nvshare run --memory", "requires an argument"),
        ("nvshare run --priority urgent python train.py", "'urgent' is not one of"),
        ("nvshare run nvshare fly", "no verb 'fly'"),
        ("nvshare emulate --gpus t4 -- nvshare run nvshare fly", "no verb 'fly'"),
        ("nvshare emulate up --gpu t4", "No such option"),
        ("nvshare status now", "takes no 'now'"),
        ("nvshare set moed=serial", "no setting 'moed'"),
        ("nvshare service install|remove", "no verb 'remove'"),
        ("kubectl nvshare fly", "no verb 'fly'"),
        ("make coffee", "no target 'coffee'"),
        ("kubectl apply -f deploy/manifests/none.yaml", "there is no deploy/manifests/none.yaml"),
    ],
)
def test_what_does_not_exist_is_found(command: str, expected: str) -> None:
    assert expected in (problem(command.split()) or "nothing")


@pytest.mark.parametrize(
    "command",
    [
        "nvshare VERB --help",
        "nvshare run --memory 4Gi python train.py --fast",
        "nvshare set turn=SECONDS mode=serial",
        "nvshare limit WHO --priority high|low",
        "python train.py",
        "make test ARGS=-x",
    ],
)
def test_what_exists_is_let_pass(command: str) -> None:
    assert problem(command.split()) is None
