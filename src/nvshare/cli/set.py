"""``nvshare set``: change how GPUs are shared, and read it back. For programs: nvshare limit."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import click
from pydantic import ValidationError

from nvshare.cli import completing
from nvshare.cli.control import Daemon
from nvshare.cli.json_output import show_json
from nvshare.errors import BadInputError
from nvshare.settings import LabSettings, NodeSettings
from nvshare.settings.table import GPU, LAB, NODE, REMOVED
from nvshare.telemetry.snapshot import DeviceStatus
from nvshare.validation import describe

# Short names, and the names of the API.
SHORT_NAMES = {"turn": "turn_seconds"}
_OF_GPU = {one.name for one in GPU}
_OF_NODE = {one.name for one in NODE}
_OF_LAB = {f"lab.{one.name}" for one in LAB}


@click.command("set")
@click.option(
    "--gpu",
    metavar="GPU",
    shell_complete=completing.gpus,
    help="Index or UUID of a GPU, or all (the default).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.argument("changes", nargs=-1, metavar="[NAME=VALUE]…", shell_complete=completing.settings)
def change(gpu: str | None, as_json: bool, changes: tuple[str, ...]) -> None:
    """Change settings, and print those in force. Without changes, only print them.

    nvshare set mode=serial turn=30

    nvshare set --gpu 0 reserve=512Mi

    nvshare set host_memory=64Gi

    Limits of programs are changed with nvshare limit.
    """
    devices, node = _change_settings(Daemon(), gpu, changes)
    if as_json:
        show_json(_described(devices, node))
    else:
        _show(devices, node)


def _change_settings(
    daemon: Daemon, gpu: str | None, changes: tuple[str, ...]
) -> tuple[list[DeviceStatus], NodeSettings | None]:
    """Change the settings of GPUs and, if no GPU was named, those of the node."""
    own = _OF_NODE if gpu is None else set()
    wanted = parse_changes(changes, own)
    ours = {name: wanted.pop(name) for name in own & set(wanted)}
    _check(ours)
    devices = daemon.change_devices(gpu or "all", wanted)
    return devices, daemon.change_node(ours) if gpu is None else None


def _check(ours: dict[str, Any]) -> None:
    """Check node settings before anything changes, because the GPUs are changed first."""
    try:
        NodeSettings().changed(ours)
    except ValidationError as error:
        raise BadInputError(
            "; ".join(describe(error)), do="see docs/daemon.md for every field"
        ) from error


def parse_changes(changes: Sequence[str], more: AbstractSet[str] = frozenset()) -> dict[str, Any]:
    """Return changes to a GPU, written "name=value", by the full names of what they change.

    ``more``: the names of what else can be changed.
    """
    wanted: dict[str, Any] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        name = SHORT_NAMES.get(name, name).replace("-", "_")
        if equals and name in REMOVED:
            why, do = f"{name} is not a setting any more", REMOVED[name]
            raise BadInputError(f'"{text}" cannot be set', why=why, do=do)
        if not equals or name not in _OF_GPU | _OF_LAB | more:
            raise BadInputError(
                f'"{text}" cannot be set',
                why=None if equals else 'a change is written "name=value"',
                do=f"the names are {', '.join(sorted(_OF_GPU | more))}",
            )
        place = wanted.setdefault("lab", {}) if name in _OF_LAB else wanted
        place[name.removeprefix("lab.")] = value
    return wanted


def _described(devices: list[DeviceStatus], node: NodeSettings | None) -> dict[str, Any]:
    """Return a part of what `nvshare status --json` prints."""
    shown = [one.model_dump(include={"index", "uuid", "name", "settings"}) for one in devices]
    return {"devices": shown, "settings": node.model_dump() if node else None}


def _show(devices: list[DeviceStatus], node: NodeSettings | None) -> None:
    results = [(f"gpu {one.index}", one.settings.model_dump()) for one in devices]
    results += [("node", node.model_dump())] if node else []
    for name, values in results:
        for field, value in _by_name(values):
            text = f"{value:g}" if isinstance(value, float) else value
            click.echo(f"{name}: {field}={text}")


def _by_name(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield settings as they are set; of the laboratory's, only those that are no constants."""
    constants = LabSettings().model_dump()
    for field, value in values.items():
        if field != "lab":
            yield field, value
    for field, value in values.get("lab", {}).items():
        if value != constants[field]:
            yield f"lab.{field}", value
