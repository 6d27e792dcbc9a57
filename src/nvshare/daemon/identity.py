"""Who is at the other end of a connection: asked of the kernel, never believed from the peer."""

import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")
_PROC = Path("/proc")

# systemd writes kubepods-burstable-pod<uid>.slice with underscores in the uid, cgroupfs writes
# kubepods/burstable/pod<uid>/<container>.
_POD = re.compile(r"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})")
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


def identify(connection: socket.socket) -> Identity:
    """Ask who is at the other end."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    pod, container = parse_cgroup(_read(pid, "cgroup"))
    return Identity(pid, uid, gid, _program(pid), pod, container)


def parse_cgroup(text: str) -> tuple[str, str]:
    """Find the pod's uid and the container's id in /proc/<pid>/cgroup."""
    pod = _POD.search(text)
    container = _CONTAINER.search(text)
    return (
        pod[1].replace("_", "-") if pod else "",
        container[1] if container else "",
    )


def _program(pid: int) -> str:
    # What was started is better known than what runs it: "train.py", not "python3".
    words = _read(pid, "cmdline").split("\0")
    name = Path(words[0]).name
    if re.fullmatch(r"python[0-9.]*", name):
        script = next((word for word in words[1:] if word and not word.startswith("-")), "")
        name = Path(script).name if script.endswith(".py") else name
    return name or _read(pid, "comm").strip() or "?"


def _read(pid: int, name: str) -> str:
    if not pid:
        return ""
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        # It has gone, or hides.
        return ""
