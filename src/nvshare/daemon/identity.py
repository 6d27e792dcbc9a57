"""Who is at the other end of a connection: asked of the kernel, never believed from the peer."""

import errno
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

from nvshare.launch.unix_http import peer

# What is wrong with this process and not with the one that is asked about.
EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
# A program names itself: what is longer, or no character for people, does not reach log and views.
_LONGEST_NAME = 64
_PROC = Path("/proc")
# PF_EXITING, among the flags in /proc/<pid>/stat.
_EXITING = 0x4

# A pod's cgroup is …/pod<uid> (cgroupfs) or …-pod<uid>.slice with underscores in the uid
# (systemd); that of a pod that kubelet has read from a file has a hash for a uid. The container's
# is in it: /<id>, /cri-containerd-<id>.scope, /crio-<id>.scope or :cri-containerd:<id>. What comes
# before belongs to somebody else, as a node may be a container itself; so does what comes after.
_UID = r"[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32}"
_POD = re.compile(rf"[/-]pod({_UID})(?:\.slice)?(?:[/:](?:[a-z-]+[-:])?([0-9a-f]{{64}}))?")
_CONTAINER = re.compile(r"([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Identity:
    """A process, as the kernel described it when the connection was made.

    A process that lives where we cannot see it has pid 0. Pod and container are empty outside of
    them.
    """

    pid: int
    uid: int
    gid: int
    program: str = "?"
    pod: str = ""
    container: str = ""
    # When it began, in the kernel's ticks: a pid comes back, and this does not.
    started: int = 0
    # Whether pod and container are what they are, and not just what could not be found out.
    is_known: bool = True


def identify(connection: socket.socket) -> Identity:
    """Ask who is at the other end.

    Raises OSError (EXHAUSTED) when nobody can be asked: one whose pod is not known would have no
    limits.
    """
    pid, uid, gid = peer(connection)
    pod, container = parse_cgroup(_read(pid, "cgroup"))
    program = _program(pid)
    # The last to be read: who is alive now was so when the kernel was asked for its cgroup.
    started, is_alive = _life(pid)
    is_known = is_alive or bool(container) or not pid
    return Identity(pid, uid, gid, program, pod, container, started, is_known)


def describe_process(pid: int) -> tuple[int | None, str]:
    """Return whose a process is, and what it is called. None: it is gone, or hides."""
    try:
        return (_PROC / str(pid)).stat().st_uid, _program(pid)
    except OSError:
        return None, ""


def own_container() -> str:
    """Return the container that this process is in, if it can tell."""
    return parse_cgroup(_read(os.getpid(), "cgroup"))[1]


def parse_cgroup(text: str) -> tuple[str, str]:
    """Find the pod's uid and the container's id in /proc/<pid>/cgroup."""
    pod = _POD.search(text)
    if pod:
        return pod[1].replace("_", "-"), pod[2] or ""
    container = _CONTAINER.search(text)
    return "", container[1] if container else ""


def _program(pid: int) -> str:
    # What was started is better known than what runs it: "train.py", not "python3".
    words = _read(pid, "cmdline").split("\0")
    name = Path(words[0]).name
    if re.fullmatch(r"python[0-9.]*", name):
        script = next((word for word in words[1:] if word and not word.startswith("-")), "")
        name = Path(script).name if script.endswith(".py") else name
    return shown_name(name or _read(pid, "comm").strip() or "?")


def shown_name(name: str) -> str:
    """Return a name as people see it: what would steer their terminal is left out."""
    if len(name) <= _LONGEST_NAME and name.isprintable():
        return name
    shown = "".join(one if one.isprintable() else "?" for one in name[: _LONGEST_NAME + 1])
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def _life(pid: int) -> tuple[int, bool]:
    """Return when a process began, and whether it goes on.

    One that ends is in no cgroup any more, to those who ask, and others may have its connections.
    """
    # The name of the program comes before, in parentheses, and can have anything in it.
    words = _read(pid, "stat").rpartition(")")[2].split()
    if len(words) <= 19:
        return 0, False
    return int(words[19]), not int(words[6]) & _EXITING


def _read(pid: int, name: str) -> str:
    if not pid:
        return ""
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        if error.errno in EXHAUSTED:
            raise
        # It has gone, or hides.
        return ""
