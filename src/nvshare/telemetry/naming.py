"""Names of programs in a sentence: a name that several programs have is followed by the pid."""

from collections import Counter
from collections.abc import Callable, Sequence

from nvshare.telemetry.snapshot import ClientStatus


def short_name(client: ClientStatus) -> str:
    """Return the name of a program where there is little room: by its user."""
    return f"{client.user}/{client.program}"


def name_of(client: ClientStatus) -> str:
    """Return the name of a program: by its pod, or by its user."""
    return f"{client.pod_name or client.user}/{client.program}"


def distinct_names(
    clients: Sequence[ClientStatus],
    among: Sequence[ClientStatus],
    most: int,
    name: Callable[[ClientStatus], str] = name_of,
) -> list[str]:
    """Return the names of clients, at most so many, and how many more there are.

    A name that another client among these has is followed by the pid.
    """
    count = Counter(map(name, among))
    names = [
        f"{name(one)} (pid {one.pid})" if count[name(one)] > 1 else name(one)
        for one in clients[:most]
    ]
    more = len(clients) - len(names)
    return [*names, f"{more} more"] if more else names
