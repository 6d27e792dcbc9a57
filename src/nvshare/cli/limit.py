"""``nvshare limit``: show and change what programs may use, while they run."""

from typing import Any

import click
from rich.markup import escape

from nvshare.cli import completing
from nvshare.cli.control import Daemon
from nvshare.cli.gpus import warn_of_large_limit
from nvshare.cli.json_output import show_json
from nvshare.cli.limit_options import options_of_limit
from nvshare.cli.limit_words import further_limits
from nvshare.cli.output import Column, Rows, show
from nvshare.cli.status_table import gib
from nvshare.errors import BadInputError
from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import GroupStatus, GroupUse

_NONE = "none"


@click.command()
@click.argument("who", required=False, shell_complete=completing.programs)
@options_of_limit
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def limit(who: str | None, as_json: bool, **given: Any) -> None:
    """Change the limits of programs, and print those in force. Without changes, only print them.

    WHO is an id as `nvshare status` shows it, a pid, the name of a program, a pod (name or
    namespace/name) or a container (name or the beginning of its id). Processes of one container, or
    of one nvshare run, share their limits: naming one of them names them all.

    nvshare limit 3 --memory 6Gi

    nvshare limit trainer --compute 40 --burst
    """
    changes = {
        name: None if value == _NONE else value
        for name, value in given.items()
        if value is not None
    }
    if who is None and changes:
        raise BadInputError("no program was named", do="nvshare limit WHO --memory 6Gi")
    daemon = Daemon()
    if who is None:
        groups = daemon.groups()
    else:
        groups = [daemon.change_limits(who, changes) if changes else daemon.group(who)]
    for group in groups:
        _warn_of_loss(group)
    devices = daemon.status().devices
    if "memory_limit" in changes:
        used = {use.device for use in groups[0].uses}
        gpus = [gpu for gpu in devices if gpu.uuid in used]
        warn_of_large_limit(groups[0].limits.memory_limit, gpus)
    if as_json:
        for group in groups:
            show_json(group.model_dump())
        return
    index = {gpu.uuid: gpu.index for gpu in devices}
    show(draw_groups(groups, index) if groups else "No program is connected.")


def _warn_of_loss(group: GroupStatus) -> None:
    """Warn if the change is in force but not stored, so that the next daemon will not know it."""
    if group.unstored:
        click.echo(
            f"nvshare: the limits of {group.name} are in force, but could not be stored "
            f"({group.unstored}): they are lost when the daemon restarts. Free some space in its "
            "private folder, and set them again",
            err=True,
        )


def draw_groups(groups: list[GroupStatus], index: dict[str, int]) -> Rows:
    """Draw a row for each group on each GPU."""
    table = Rows(
        *("id", Column("pid", rank=2), "program", "GPU", "memory", Column("swapped", rank=3)),
        *("compute", Column("priority", rank=1), Column("set by", rank=4)),
    )
    for group in groups:
        for use in group.uses:
            table.add_row(
                _numbers(group.ids),
                _numbers(group.pids),
                escape(group.name),
                str(index.get(use.device, "?")),
                _memory(use, group.limits.memory_limit),
                f"{gib(use.swapped_out)} GiB",
                ", ".join([_compute(group.limits), *further_limits(group.limits)]),
                group.limits.priority or "normal",
                escape(_sources(group)),
            )
    return table


def _numbers(numbers: tuple[int, ...]) -> str:
    first, *others = numbers or ("?",)
    return f"{first} and {len(others)} more" if others else str(first)


def _memory(use: GroupUse, limit: int | None) -> str:
    text = f"{gib(use.used)} GiB" if limit is None else f"{gib(use.used)} of {gib(limit)} GiB"
    return f"[red]{text}, over its limit[/]" if use.over_limit else text


def _compute(limits: ClientLimits) -> str:
    if limits.compute_percent is None:
        return "-"
    return f"{limits.compute_percent} %" + (", burst" if limits.burst else "")


def _sources(group: GroupStatus) -> str:
    words = {
        "environment": "its environment",
        "set": "nvshare limit",
        "pod": "its pod",
        "ceiling": "the ceiling of its namespace",
    }
    return ", ".join(words[source] for source in dict.fromkeys(group.sources.values())) or "-"
