"""Names of programs in sentences, and in commands that a sentence suggests."""

from collections import Counter
from collections.abc import Callable, Sequence

from nvshare.telemetry.snapshot import ClientStatus


def short_name(client: ClientStatus) -> str:
    """Return the name of a program where there is little room: by its user."""
    return f"{client.user}/{client.program}"


def name_of(client: ClientStatus) -> str:
    """Return the name of a program: by its pod, or by its user."""
    return f"{client.pod_name or client.user}/{client.program}"


def number_of(client: ClientStatus) -> str:
    """Return the number of a program in words: its pid, or its id if the pid is not to be seen."""
    return f"pid {client.pid}" if client.pid > 0 else f"id {client.id}"


def argument_for(client: ClientStatus) -> str:
    """Return what `nvshare limit` and the like call a program."""
    return str(client.pid) if client.pid > 0 else f"id:{client.id}"


def distinct_names(
    clients: Sequence[ClientStatus],
    among: Sequence[ClientStatus],
    most: int,
    name: Callable[[ClientStatus], str] = name_of,
) -> list[str]:
    """Return the names of clients, at most so many, and how many more there are.

    A name that another client among these has is followed by its number.
    """
    count = Counter(map(name, among))
    names = [
        f"{name(one)} ({number_of(one)})" if count[name(one)] > 1 else name(one)
        for one in clients[:most]
    ]
    more = len(clients) - len(names)
    return [*names, f"{more} more"] if more else names
