"""Groups as people name them: by a pid, a program, a pod or a container."""

from collections.abc import Iterable

from nvshare.daemon.groups import Group, Groups
from nvshare.daemon.pods import Pods
from nvshare.errors import BadInputError

# Fewer characters of a container's id could be a word.
_SHORTEST_ID = 6


def name_of(group: Group, pods: Pods) -> str:
    """Return what to call a group: its pod and container, or its program."""
    who = group.identity
    if pod := pods.name(who):
        container = pods.orders(who).name
        return f"{pod}/{container}" if container else pod
    programs = list(dict.fromkeys(s.identity.program for s in group.members.values()))
    return ", ".join(programs)


def find_group(groups: Groups, pods: Pods, name: str) -> Group:
    """Return the one group that a name means."""
    known = list(groups.all())
    found = [group for group in known if _is_called(group, pods, name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadInputError(
            f'no program is called "{name}"',
            why=f"there are {_list(known, pods)}"
            if known
            else "no program uses a GPU through "
            "this daemon: only those that were started with `nvshare run`, or in a pod, do",
            do="name a pid, an id such as #3, a program, a pod or a container: see `nvshare limit`",
        )
    raise BadInputError(
        f'"{name}" can mean {len(found)} groups of programs',
        why=f"they are {_list(found, pods)}",
        do="name one of them by the pid of one of its processes",
    )


def _is_called(group: Group, pods: Pods, name: str) -> bool:
    if name.isdigit():
        return any(str(s.identity.pid) == name for s in group.members.values())
    if name.startswith("#"):
        return any(f"#{client}" == name for client in group.members)
    who, pod = group.identity, pods.name(group.identity)
    names = {s.identity.program for s in group.members.values()} | {
        group.key,
        pods.orders(who).name,
    }
    if pod:
        names |= {pod, pod.rpartition("/")[2], name_of(group, pods)}
    is_id = len(name) >= _SHORTEST_ID and who.container.startswith(name)
    return name in names or is_id


def _list(groups: Iterable[Group], pods: Pods) -> str:
    return "; ".join(f"{name_of(group, pods)} ({_pids(group)})" for group in groups)


def _pids(group: Group) -> str:
    pids = sorted({session.identity.pid for session in group.members.values()})
    shown = ", ".join(map(str, pids[:5]))
    return f"pid {shown}" if len(pids) <= 5 else f"pid {shown} and {len(pids) - 5} more"
