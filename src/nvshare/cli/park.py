"""``nvshare park`` and ``nvshare unpark``: take a program off its GPUs for a while, by hand."""

import click

from nvshare.cli import completing
from nvshare.cli.control import Daemon
from nvshare.cli.json_output import show_json
from nvshare.cli.status_table import gib
from nvshare.telemetry.snapshot import ClientStatus, GroupStatus
from nvshare.telemetry.thrashing import cannot_give_way


@click.command()
@click.argument("who", shell_complete=completing.programs)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def park(who: str, as_json: bool) -> None:
    """Take a program off its GPUs until `nvshare unpark`.

    It gives up its turn as at the end of any turn, all of its memory that can move leaves the GPU,
    and its next CUDA calls wait. No data is lost.

    WHO is an id as `nvshare status` shows it, a pid, the name of a program, a pod (name or
    namespace/name) or a container (name or the beginning of its id). Processes of one container, or
    of one nvshare run, are parked together: naming one of them names them all.
    """
    daemon = Daemon()
    group = daemon.park(who)
    if as_json:
        show_json(group.model_dump())
        return
    members = [one for one in daemon.status().clients if one.group == group.key]
    for line in describe(group, members):
        click.echo(line)


@click.command()
@click.argument("who", shell_complete=completing.programs)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def unpark(who: str, as_json: bool) -> None:
    """Let a program go on that was parked by hand. WHO is as in nvshare park."""
    group = Daemon().unpark(who)
    if as_json:
        show_json(group.model_dump())
        return
    click.echo(f"{_name(group)} goes on: its memory comes back with its next turn")


def describe(group: GroupStatus, members: list[ClientStatus]) -> list[str]:
    """Say which memory leaves, and which cannot."""
    moves = sum(one.allocated - one.pinned for one in members)
    pinned = sum(one.pinned for one in members)
    # The work in flight of a program that has a turn ends first: mostly in milliseconds.
    runs = any(one.state in ("running", "yielding") for one in members)
    when = " as soon as its work in flight has ended" if runs else ""
    lines = [f"{_name(group)} is parked: {gib(moves)} GiB leave the GPU{when}"]
    lines += [
        f"  pid {one.pid} cannot give way yet: {why}; if it takes too long, end it"
        for one in members
        if (why := cannot_give_way(one))
    ]
    if pinned:
        lines.append(f"  {gib(pinned)} GiB stay: memory that was allocated in this way cannot move")
    stuck = [one for one in members if one.stuck]
    lines += [f"  {gib(one.stuck)} GiB of pid {one.pid} stay: {one.stuck_because}" for one in stuck]
    lines.append(f"  its CUDA calls wait until `nvshare unpark {group.ids[0]}`")
    return lines


def _name(group: GroupStatus) -> str:
    ids, pids = (", ".join(map(str, numbers)) for numbers in (group.ids, group.pids))
    return f"{group.name} (id {ids}, pid {pids})"
