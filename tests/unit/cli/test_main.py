import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner, Result

import nvshare
from nvshare.cli.main import Verbs, cli
from nvshare.cli.verbs import SECTIONS, VERBS
from nvshare.errors import BadInputError, NvshareError

# What takes long to import, beyond click and the standard library.
SLOW = ("pydantic", "rich", "aiohttp", "asyncio", "nvshare.settings", "nvshare.wire.frames")


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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(["stauts"], "status"), (["emulate", "profles"], "profiles"), (["bench", "swop"], "swap")],
)
def test_a_misspelt_verb(call: Callable[..., Result], typed: list[str], meant: str) -> None:
    said = call(*typed)
    assert said.exit_code == 2
    assert f"Did you mean '{meant}'" in said.stderr


def test_help_is_in_groups_and_whole(call: Callable[..., Result]) -> None:
    said = call("--help").output
    places = [said.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
    for name in VERBS:
        assert f"\n  {name} " in said
    assert "..." not in said.partition("Options:")[2]
    assert "Remove an emulated node and all that is on it." in call("emulate", "--help").output


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_listed_with_its_own_first_sentence(name: str) -> None:
    verb = cli.get_command(click.Context(cli), name)
    assert verb is not None
    assert VERBS[name].summary == verb.get_short_help_str(1000)


def imported(*lines: str) -> list[str]:
    """The slow modules that a new process has imported after these lines."""
    ask = f"import sys; print(*(one for one in {SLOW} if one in sys.modules))"
    command = [sys.executable, "-c", "\n".join((*lines, ask))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_a_program_does_not_wait_for_slow_imports() -> None:
    assert imported("import nvshare.cli.main", "import nvshare.cli.run") == []


def test_help_and_completion_import_no_verb() -> None:
    lines = (
        "import click",
        "from nvshare.cli.main import cli",
        "cli.get_help(click.Context(cli))",
        "assert len(cli.shell_complete(click.Context(cli), '')) > 20",
    )
    assert imported(*lines) == []


def test_who_asks_for_json_does_not_wait_for_tables() -> None:
    assert "rich" not in imported("import nvshare.cli.status")
