"""``nvshare why``: what a program spent the last minute on, and what would help."""

import json

import click

from nvshare.cli.control import Daemon
from nvshare.errors import BadInputError
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus
from nvshare.telemetry.why import explain


@click.command()
@click.argument("who", metavar="PROGRAM|PID|POD")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def why(who: str, as_json: bool) -> None:
    """Say why a program is as fast as it is: one paragraph for each GPU that it uses.

    WHO is a pid, an id as `nvshare status` shows it, the name of a program, or a pod (name or
    namespace/name).

    nvshare why train.py
    """
    status = Daemon().status()
    for number, client in enumerate(find_clients(status, who)):
        found = explain(status, client.id)
        if as_json:
            click.echo(json.dumps(found.values()))
            continue
        if number:
            click.echo()
        click.echo(" ".join(found.sentences()))


def find_clients(status: NodeStatus, name: str) -> list[ClientStatus]:
    """Return the programs that a name refers to, sorted by GPU."""
    found = [one for one in status.clients if name in names_of(one)]
    if found:
        index = {gpu.uuid: gpu.index for gpu in status.devices}
        return sorted(found, key=lambda one: (index.get(one.device, -1), one.id))
    known = ", ".join(f"{one.program} (id {one.id}, pid {one.pid})" for one in status.clients)
    raise BadInputError(
        f'no program is called "{name}"',
        why=f"the programs are {known}" if known else "no program uses a GPU through this daemon",
        do="name an id, a pid, a program or a pod; `nvshare status` shows them",
    )


def names_of(client: ClientStatus) -> set[str]:
    """Return all names that refer to a program."""
    pod = client.pod_name
    names = {str(client.id), str(client.pid), client.program, pod, pod.rpartition("/")[2]}
    return names - {""}
