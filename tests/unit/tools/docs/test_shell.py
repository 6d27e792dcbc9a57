"""Lines of documentation become commands."""

import pytest

from tools.docs.shell import commands, lines_of_commands


def test_with_prompts_only_what_is_typed_counts() -> None:
    assert lines_of_commands("$ nvshare ls\n1 4711 train.py\n") == ["nvshare ls"]


def test_lines_that_go_on_are_one() -> None:
    assert lines_of_commands("helm install \\\n    --set a=b\n") == ["helm install  --set a=b"]


def test_a_drawing_has_no_commands() -> None:
    assert lines_of_commands("nvshare daemon ── core\n") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nvshare ls   # who is there", [["nvshare", "ls"]]),
        ("sudo NVSHARE_REQUIRE=1 nvshare ls &", [["nvshare", "ls"]]),
        (
            'eval "$(nvshare emulate env)"',
            [["eval", "X"], ["nvshare", "emulate", "env"]],
        ),
        ("nvshare ls | sort; make test", [["nvshare", "ls"], ["sort"], ["make", "test"]]),
        ("nvshare why PROGRAM|PID [--json]", [["nvshare", "why", "PROGRAM|PID", "--json"]]),
        ("nvshare simulate S [--policy P …]", [["nvshare", "simulate", "S", "--policy", "P"]]),
        ("it isn't a command", []),
    ],
)
def test_commands_of_a_line(line: str, expected: list[list[str]]) -> None:
    assert list(commands(line)) == expected
