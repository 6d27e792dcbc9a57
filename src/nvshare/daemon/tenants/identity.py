"""The identity of a peer: the kernel says it, never the peer itself."""

import errno
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvshare.launch.peer import peer

# Errors of this process, not of the one that is examined.
EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
# A program names itself: longer names are cut, and unprintable characters left out.
_LONGEST_NAME = 64
_PROC = Path("/proc")
# PF_EXITING, among the flags in /proc/<pid>/stat.
_EXITING = 0x4

# A pod's cgroup is …/pod<uid> (cgroupfs) or …-pod<uid>.slice with underscores in the uid
# (systemd); that of a pod that kubelet has read from a file has a hash for a uid. The container's
# is in it: /<id>, /cri-containerd-<id>.scope, /crio-<id>.scope or :cri-containerd:<id>. The path
# before it may belong to another container, as a node may be one itself; so may the path after it.
_UID = r"[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32}"
_POD = re.compile(rf"[/-]pod({_UID})(?:\.slice)?(?:[/:](?:[a-z-]+[-:])?([0-9a-f]{{64}}))?")
_CONTAINER = re.compile(r"([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE)
# The processes of a login session, where systemd runs the machine. Within it, its user may make
# cgroups of any name, and have processes of other uids.
_LOGIN = re.compile(r":/user\.slice/user-([0-9]+)\.slice(?:/|$)", re.MULTILINE)
# More than any of these files needs.
_MOST_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Identity:
    """A process, as the kernel described it when the connection was made.

    A process in a pid namespace that we cannot see has pid 0. Pod and container are empty outside
    of them.
    """

    pid: int
    uid: int
    gid: int
    program: str = "?"
    pod: str = ""
    container: str = ""
    # When it began, in the kernel's ticks: pids are reused, and this is not.
    started: int = 0
    # Whether empty pod and container mean that there are none, and not that reading failed.
    is_known: bool = True
    # The user whose login session it is in, whatever its own uid; None: it is in none.
    login: int | None = None

    @property
    def tenant(self) -> str:
        """The tenant that is charged for its costs."""
        return _tenant(self.uid, self.container, self.login)

    @property
    def log_fields(self) -> dict[str, Any]:
        """Its fields in the log."""
        named = {"pid": self.pid, "program": self.program, "pod": self.pod}
        return {**named, "payer": self.tenant}


@dataclass(frozen=True, slots=True)
class Caller:
    """A process of which little is known yet: enough to tell its tenant."""

    pid: int
    uid: int
    gid: int
    cgroup: str
    # An exiting process shows no cgroup any more: it may have been in a container.
    is_alive: bool = True

    @property
    def is_known(self) -> bool:
        """Whether its tenant is certain."""
        return self.is_alive or not self.pid or bool(parse_cgroup(self.cgroup)[1])

    @property
    def tenant(self) -> str:
        """The tenant that is charged for it."""
        return _tenant(self.uid, parse_cgroup(self.cgroup)[1], parse_login(self.cgroup))


def identify_caller(connection: socket.socket) -> Caller:
    """Identify a peer as far as that is cheap. Raises OSError as identify() does."""
    pid, uid, gid = peer(connection)
    cgroup = _read(pid, "cgroup")
    # Read after its cgroup: a process that is alive now was alive when its cgroup was read.
    return Caller(pid, uid, gid, cgroup, life(pid)[1])


def identify(connection: socket.socket, seen: Caller | None = None) -> Identity:
    """Identify a peer.

    Raises OSError (EXHAUSTED) when that is impossible: a process of an unknown pod would have no
    limits.
    """
    seen = seen or identify_caller(connection)
    pod, container = parse_cgroup(seen.cgroup)
    pid = seen.pid
    # Again: a process that has waited to be let in may have ended meanwhile.
    started, is_alive = life(pid)
    is_known = is_alive or bool(container) or not pid
    return Identity(
        pid,
        seen.uid,
        seen.gid,
        # An unknown process is turned away, and the name of one that has ended is gone.
        _program(pid) if is_known else "?",
        pod,
        container,
        started,
        is_known=is_known,
        login=parse_login(seen.cgroup),
    )


def describe_process(pid: int) -> tuple[int | None, str]:
    """Return a process's uid and name. None: it is gone, or hidden."""
    try:
        return (_PROC / str(pid)).stat().st_uid, _program(pid)
    except OSError:
        return None, ""


def is_another(who: Identity) -> bool:
    """Whether a process has ended, and its pid is that of another one."""
    started = life(who.pid)[0]
    return bool(who.started and started) and started != who.started


def own_container() -> str:
    """Return the container that this process is in, if that is visible."""
    return parse_cgroup(_read(os.getpid(), "cgroup"))[1]


def parse_cgroup(text: str) -> tuple[str, str]:
    """Find the pod's uid and the container's id in /proc/<pid>/cgroup."""
    pod = _POD.search(text)
    if pod:
        return pod[1].replace("_", "-"), pod[2] or ""
    container = _CONTAINER.search(text)
    return "", container[1] if container else ""


def parse_login(text: str) -> int | None:
    """Find the user of a process's login session in /proc/<pid>/cgroup."""
    found = _LOGIN.search(text)
    return int(found[1]) if found else None


def _tenant(uid: int, container: str, login: int | None) -> str:
    # A user who has logged in can have any number of containers, and make up their names.
    if login is not None:
        return f"user {login}"
    return f"container {container}" if container else f"user {uid}"


def _program(pid: int) -> str:
    # Users know the script better than its interpreter: "train.py", not "python3".
    words = _read(pid, "cmdline").split("\0")
    name = Path(words[0]).name
    if re.fullmatch(r"python[0-9.]*", name):
        script = next((word for word in words[1:] if word and not word.startswith("-")), "")
        name = Path(script).name if script.endswith(".py") else name
    return shown_name(name or _read(pid, "comm").strip() or "?")


def shown_name(name: str) -> str:
    """Return a name for display, without characters that would control a terminal."""
    if len(name) <= _LONGEST_NAME and name.isprintable():
        return name
    shown = "".join(one if one.isprintable() else "?" for one in name[: _LONGEST_NAME + 1])
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def life(pid: int) -> tuple[int, bool]:
    """Return when a process began, and whether it is alive.

    An exiting process shows no cgroup any more, and other processes may have its connections.
    """
    # The name of the program comes before, in parentheses, and can contain anything.
    words = _read(pid, "stat").rpartition(")")[2].split()
    if len(words) <= 19:
        return 0, False
    return int(words[19]), not int(words[6]) & _EXITING


def _read(pid: int, name: str) -> str:
    if not pid:
        return ""
    try:
        # Not by way of pathlib and a text file: that takes three times as long.
        file = os.open(f"{_PROC}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(file, _MOST_BYTES).decode("utf-8", "replace")
        finally:
            os.close(file)
    except OSError as error:
        if error.errno in EXHAUSTED:
            raise
        # It is gone, or hidden.
        return ""
