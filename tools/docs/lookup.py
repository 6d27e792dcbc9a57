"""Whether a command of the documentation exists: its verb, its options, and their values.

Nothing is executed. Click's own parser reads the words, so an unknown option is found here as on
the command line. Values are checked where they are one of a list of words; `4Gi`, file names and
placeholders such as SECONDS are not.
"""

import re
from collections.abc import Sequence
from functools import cache

import click

from nvshare.cli.kubectl.main import cli as kubectl_cli
from nvshare.cli.main import cli as nvshare_cli
from nvshare.cli.set import SHORT_NAMES
from nvshare.settings.table import GPU, LAB, NODE
from tools.docs.pages import ROOT

# "PROGRAM", "WHO", "<name>", "…": the reader replaces it.
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_|-]*$|<.*>$|…")
# Third-party commands that take files of this repository.
_READERS = {"bash", "cmake", "cp", "docker", "helm", "kubectl", "pip", "pytest", "python"}


def problem(words: Sequence[str], *, is_whole: bool = True) -> str | None:
    """Return what is wrong with a command of ours, or None; other commands are not checked.

    A command within a sentence may be incomplete, such as an option without its value.
    """
    if words[:2] == ["kubectl", "nvshare"]:
        return _look_up(kubectl_cli, "kubectl nvshare", list(words[2:]), is_whole)
    if words[:1] == ["nvshare"]:
        return _look_up(nvshare_cli, "nvshare", list(words[1:]), is_whole)
    if words[:1] == ["make"]:
        return _make(words[1:])
    return _missing_file(words)


def _look_up(command: click.Command, name: str, words: list[str], is_whole: bool) -> str | None:
    # A usage line says OPTIONS where the reader writes options, or nothing.
    words = [word for word in words if word != "OPTIONS"]
    context = click.Context(command, info_name=name, **command.context_settings)
    inner: list[str] = []
    if name == "nvshare emulate" and "--" in words:
        words, inner = words[: words.index("--")], words[words.index("--") + 1 :]
    try:
        given, rest, _ = command.make_parser(context).parse_args(list(words))
        _check_values(command, context, given)
    except click.BadOptionUsage as error:
        return f"{name}: {error.message}" if is_whole else None
    except click.UsageError as error:
        return f"{name}: {error.format_message()}"
    if isinstance(command, click.Group):
        if not rest or _PLACEHOLDER.match(rest[0]):
            return problem(inner) if inner else None
        return _verb(command, context, name, rest, is_whole)
    if name == "nvshare run":
        return problem(_several(given.get("command")) or [""])
    if name == "nvshare set":
        return _settings(_several(given.get("changes")))
    return f"{name} takes no {rest[0]!r}" if rest else None


def _several(value: object) -> list[str]:
    """Return the words of an argument; click has a value of its own for a missing one."""
    return list(value) if isinstance(value, (list, tuple)) else []


def _verb(
    group: click.Group, context: click.Context, name: str, rest: list[str], is_whole: bool
) -> str | None:
    # "install|uninstall" names several.
    for verb in rest[0].split("|"):
        found = group.get_command(context, verb)
        if found is None:
            return f"{name} has no verb {verb!r}"
        if wrong := _look_up(found, f"{name} {verb}", rest[1:], is_whole):
            return wrong
    return None


def _check_values(command: click.Command, context: click.Context, given: dict[str, object]) -> None:
    for parameter in command.params:
        value = given.get(parameter.name or "")
        if not isinstance(parameter.type, click.Choice) or not isinstance(value, str):
            continue
        if not _PLACEHOLDER.match(value):
            for word in value.split("|"):
                parameter.type.convert(word, parameter, context)


def _settings(changes: Sequence[str]) -> str | None:
    known = {
        *(one.name for one in (*GPU, *NODE)),
        *(f"lab.{one.name}" for one in LAB),
        *SHORT_NAMES,
    }
    for change in changes:
        name = change.partition("=")[0].replace("-", "_")
        if name not in known | set(SHORT_NAMES) and not _PLACEHOLDER.match(name):
            return f"there is no setting {name!r}"
    return None


@cache
def _targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+):.*## ", text, re.MULTILINE))


def _make(words: Sequence[str]) -> str | None:
    if "-C" in words or "-f" in words:
        return None
    wrong = [word for word in words if re.match(r"[a-z]", word) and word not in _targets()]
    return f"make has no target {wrong[0]!r}" if wrong else None


@cache
def _folders() -> set[str]:
    folders = "deploy docs examples lab native protocol src tests tools"
    return {name for name in folders.split() if (ROOT / name).is_dir()}


def _missing_file(words: Sequence[str]) -> str | None:
    """Return a path of this repository that does not exist."""
    for word in words if words[0].rpartition("/")[2] in _READERS else ():
        path = word.partition("::")[0]
        is_ours = path.partition("/")[0] in _folders() and "/" in path
        if is_ours and not re.search(r"[*$<{]|[A-Z]{3}", path) and not (ROOT / path).exists():
            return f"there is no {path}"
    return None
