"""Values that a shell is offered when it completes an argument; none after an error.

Only names that exist at the moment: GPUs and programs come from the daemon, scenarios and profiles
from the package. A verb passes one of these functions as ``shell_complete``.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

# Set by a shell that completes a command line.
COMPLETE = "_NVSHARE_COMPLETE"

Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list["CompletionItem[str]"]]
Offer: TypeAlias = tuple[str, str]


# What may precede the value that is being completed: other values, and a count.
_ALONE = re.compile("")
_IN_LIST = re.compile(r"(?:.*,)?")
_COUNTED_IN_LIST = re.compile(r"(?:.*,)?(?:[0-9]+x)?")


def _completes(offers: Callable[[], Iterable[Offer]], before: "re.Pattern[str]") -> Complete:
    """Make a completion from a function that lists values, each with an explanation."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list["CompletionItem[str]"]:
        del ctx, parameter
        match = before.match(incomplete)
        done = match[0] if match else ""
        try:
            known = dict(offers())
        except Exception:  # noqa: BLE001 (no daemon, no driver, no permission: nothing to offer)
            return []
        begun = incomplete[len(done) :]
        return [
            CompletionItem(f"{done}{value}", help=text)
            for value, text in known.items()
            if value.startswith(begun)
        ]

    return complete


def _list_gpus() -> Iterable[Offer]:
    """Offer the indexes of the GPUs of this machine."""
    from nvshare.daemon.gpus.survey import find_gpus

    return [(str(gpu.index), gpu.name) for gpu in find_gpus()]


def _list_programs() -> Iterable[Offer]:
    """Offer the programs that share GPUs: ids, and names that mean one group only."""
    from nvshare.cli.control import Daemon

    groups = Daemon().groups()
    names = [group.name for group in groups]
    for group in groups:
        yield from ((str(number), group.name) for number in group.ids)
        if names.count(group.name) == 1 and " " not in group.name:
            yield group.name, f"pid {', '.join(map(str, group.pids))}"


def _list_scenarios() -> Iterable[Offer]:
    """Offer the scenarios that come with nvshare."""
    from nvshare.lab.sim.catalog import known_scenarios, load_known

    return [(name, load_known(name).title) for name in known_scenarios()]


def _list_profiles() -> Iterable[Offer]:
    """Offer the GPU models that come with nvshare."""
    from nvshare.lab.emulator.profile import known_profiles, load_known

    return [(name, load_known(name).gpu.name) for name in known_profiles()]


def _list_nodes() -> Iterable[Offer]:
    """Offer the emulated nodes of this user."""
    from nvshare.lab.emulator.emulated_node import list_names
    from nvshare.lab.emulator.root import node_root

    return [(name, "") for name in list_names(node_root())]


def _list_policies() -> Iterable[Offer]:
    """Offer the modes and policies that a scenario can be played with."""
    from nvshare.settings.table import GPU

    for one in GPU:
        if one.name in ("mode", "policy"):
            yield from ((value, one.name) for value in one.values)


def _list_settings() -> Iterable[Offer]:
    """Offer the settings that can be changed, and behind their equals sign the words for them."""
    from nvshare.settings.table import GPU, NODE

    for one in (*GPU, *NODE):
        yield f"{one.name}=", one.brief
        yield from ((f"{one.name}={value}", one.brief) for value in one.values)


def commands(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list["CompletionItem[str]"]:
    """Leave a command and its arguments to the shell, which knows files."""
    del ctx, parameter
    return [CompletionItem(incomplete, type="file")]


gpus = _completes(_list_gpus, _IN_LIST)
programs = _completes(_list_programs, _ALONE)
scenarios = _completes(_list_scenarios, _ALONE)
profiles = _completes(_list_profiles, _COUNTED_IN_LIST)
nodes = _completes(_list_nodes, _ALONE)
policies = _completes(_list_policies, _ALONE)
settings = _completes(_list_settings, _ALONE)
