import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner, Result

import nvshare
from nvshare.cli.main import Verbs
from nvshare.errors import BadInputError, NvshareError


def test_the_version(call: Callable[..., Result]) -> None:
    assert call("--version").output == f"nvshare {nvshare.__version__}\n"


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "nvshare", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == f"nvshare {nvshare.__version__}\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            BadInputError("no such thing", why="it was eaten", do="bake a new one"),
            2,
            "nvshare: no such thing\n  why: it was eaten\n  what to do: bake a new one\n",
        ),
        (NvshareError("it broke"), 1, "nvshare: it broke\n"),
    ],
)
def test_an_error_is_shown_without_a_traceback(error: NvshareError, code: int, said: str) -> None:
    @click.group(cls=Verbs)
    def group() -> None:
        pass

    @group.command()
    def fail() -> None:
        raise error

    result = CliRunner().invoke(group, ["fail"])
    assert result.exit_code == code
    assert result.stderr == said
    assert result.stdout == ""


def test_an_unknown_verb_is_bad_input(call: Callable[..., Result]) -> None:
    assert call("frobnicate").exit_code == 2
