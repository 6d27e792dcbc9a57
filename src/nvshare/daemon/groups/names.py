"""Groups as users name them: by an id, a pid, a program, a pod or a container.

A plain number is the id of a client or a pid. If it could mean two different groups, it is refused;
"id:7" and "pid:7" say which is meant.
"""

from collections.abc import Callable, Iterable

from nvshare.daemon.groups.groups import Group, Groups
from nvshare.daemon.groups.pods import Pods
from nvshare.errors import BadInputError

# The meanings of a number, by the prefix before it.
_NUMBERS: dict[str, Callable[[Group, int], set[int]]] = {
    "id": lambda _, client: {client},
    "pid": lambda group, client: {group.members[client].identity.pid},
    "": lambda group, client: {client, group.members[client].identity.pid},
}
# A shorter prefix of a container's id could be a word.
_SHORTEST_ID = 6
_LONGEST_NUMBER = 20


def name_of(group: Group, pods: Pods) -> str:
    """Return the name of a group: its pod and container, or its program."""
    who = group.identity
    if pod := pods.name(who):
        container = pods.orders(who).name
        return f"{pod}/{container}" if container else pod
    programs = list(dict.fromkeys(one.identity.program for one in group.members.values()))
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
            why=f"the programs are {_list(known, pods)}"
            if known
            else "no program uses a GPU through this daemon: only programs that were started "
            "with `nvshare run`, or in a pod, do so",
            do="name an id, a pid, a program, a pod or a container: `nvshare limit` lists them",
        )
    raise BadInputError(
        f'"{name}" can mean {len(found)} groups of programs',
        why=f"they are {_list(found, pods)}",
        do=f"write id:{name} or pid:{name}"
        if _is_number(name)
        else "name one of them by the id or the pid of one of its processes",
    )


def _is_called(group: Group, pods: Pods, name: str) -> bool:
    # Ids were once shown with "#", which a shell takes for a comment.
    kind, _, number = name.replace("#", "id:", 1).rpartition(":")
    if _is_number(number) and kind in _NUMBERS:
        return any(int(number) in _NUMBERS[kind](group, client) for client in group.members)
    who, pod = group.identity, pods.name(group.identity)
    names = {one.identity.program for one in group.members.values()} | {
        group.key,
        pods.orders(who).name,
    }
    if pod:
        names |= {pod, pod.rpartition("/")[2], name_of(group, pods)}
    is_id = len(name) >= _SHORTEST_ID and who.container.startswith(name)
    return name in names or is_id


def _is_number(text: str) -> bool:
    """Whether this can be an id or a pid. "²" is a digit too, and int() bounds the length."""
    return text.isascii() and text.isdigit() and len(text) < _LONGEST_NUMBER


def _list(groups: Iterable[Group], pods: Pods) -> str:
    return "; ".join(f"{name_of(group, pods)} ({_numbers(group)})" for group in groups)


def _numbers(group: Group) -> str:
    pids = sorted({one.identity.pid for one in group.members.values()})
    return f"id {_some(sorted(group.members))}, pid {_some(pids)}"


def _some(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return shown if len(numbers) <= 5 else f"{shown} and {len(numbers) - 5} more"
