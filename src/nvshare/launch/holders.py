"""Which daemon has which GPU: one per GPU and machine, whichever user has started it.

Two daemons that share one GPU would each give away the same memory, and the programs of both would
thrash. So a daemon takes a lock for each of its GPUs: it listens on an abstract Unix socket that is
named after the GPU's UUID. Reasons for a socket and against a file:

* Every user can take and see it. No folder is writable for all users on all systems: /run/lock
  is root's on some, and /tmp is private to many services.
* Nothing is left behind. The kernel frees the name when the process ends in any way, and no process
  can delete it before; files in shared folders are cleaned up, at a logout for example.
* The kernel identifies the holder (SO_PEERCRED). Any user may have written a file.
* The holder can be asked. The daemon answers there with the place of its sockets.

A user who binds the name without a daemon keeps other users from sharing the GPU. Filling the
GPU's memory would do the same harm, and the error names the user and the process. It does not keep
root's daemon away, which has a lock of its own (daemon/gpus/root_lock.py).

Abstract names belong to a network namespace: a daemon in a container with its own network is not
seen here. It is looked for at /run/nvshare, which such containers mount (docs/daemon.md).

An emulated node is a machine of its own: there the name contains the identity of the node's folder,
since nodes of two users may have the same name, and with it the same UUIDs.
"""

import json
import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.launch.peer import peer
from nvshare.launch.place import answers
from nvshare.launch.start import TAKEN
from nvshare.launch.trust import SYSTEM
from nvshare.launch.unix_http import UnixConnection
from nvshare.users import user_name
from nvshare.wire import environment
from nvshare.wire.places import SOCKET_NAME

_PREFIX = "nvshare/gpu/"
_SECONDS = 2.0
# The length of a socket's path.
_LONGEST = 107
# The uid of a process that cannot be identified.
NOBODY = -1


@dataclass(frozen=True)
class Holder:
    """The holder of a GPU. ``pid`` and ``uid`` are from the kernel, the rest from the holder."""

    uuid: str
    pid: int
    uid: int
    address: str
    # None: it does not say.
    index: int | None = None
    folder: Path | None = None

    @property
    def who(self) -> str:
        """The holder's name for users."""
        if self.uid == NOBODY:
            return "a process that does not answer"
        process = f"pid {self.pid}" if self.pid else "in another container"
        if self.folder is None:
            return f"a process of {user_name(self.uid)} ({process}), which does not answer,"
        return f"the daemon of {user_name(self.uid)} ({process}, in {self.folder})"

    @property
    def gpu(self) -> str:
        """The name of its GPU."""
        return self.uuid if self.index is None else f"GPU {self.index}"


def lock_address(uuid: str, environ: Mapping[str, str]) -> str:
    """Return the address that the daemon of a GPU listens on."""
    return f"\0{_PREFIX}{uuid}{_scope(environ)}"


def find_holders(environ: Mapping[str, str], listed: Path = Path("/proc/net/unix")) -> list[Holder]:
    """Return the holders of GPUs of this machine, or of the present emulated node."""
    name = re.compile(rf"@({_PREFIX}([A-Z]+-[0-9a-f-]+){re.escape(_scope(environ))})")
    words = (line.rpartition(" ")[2] for line in listed.read_text(errors="replace").splitlines())
    found = {match[2] for match in map(name.fullmatch, words) if match}
    return [holder for uuid in sorted(found) if (holder := find_holder(uuid, environ))]


def find_holder(uuid: str, environ: Mapping[str, str], *, asks: bool = True) -> Holder | None:
    """Return the holder of a GPU, if any: what the kernel says, and what it says itself."""
    address = lock_address(uuid, environ)
    connection = UnixConnection(address, _SECONDS)
    with closing(connection):
        try:
            connection.connect()
        except OSError:
            return None
        pid, uid, _ = peer(connection.sock)
        return Holder(uuid, pid, uid, address, *(_ask(connection, uuid) if asks else ()))


def _ask(connection: UnixConnection, uuid: str) -> tuple[int | None, Path | None]:
    """Ask a daemon for its GPU and its sockets. The peer may be any process."""
    try:
        connection.request("GET", "/v1/daemon")
        answer = json.loads(connection.getresponse().read(65536))
        index = next((one["index"] for one in answer["gpus"] if one["uuid"] == uuid), None)
        return int(index) if index is not None else None, _folder(answer["folder"])
    except (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError):
        return None, None


def _folder(text: str) -> Path:
    """Return the folder that a peer has named, checked, since users will read it."""
    if not text.isprintable() or not text.startswith("/") or len(text) > _LONGEST:
        raise ValueError("no folder has such a name")
    return Path(text)


def usable(holders: Iterable[Holder]) -> Holder | None:
    """Return the first holder whose sockets let us in, and really belong to its process."""
    return next((holder for holder in holders if _lets_us_in(holder)), None)


def _lets_us_in(holder: Holder) -> bool:
    if holder.folder is None or not holder.pid:
        return False
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as sock:
        sock.settimeout(_SECONDS)
        try:
            sock.connect(str(holder.folder / SOCKET_NAME))
        except OSError:
            return False
        return peer(sock)[:2] == (holder.pid, holder.uid)


class TakenError(NvshareError):
    """Another daemon has GPUs that were to be shared: names it, and says what to do."""

    exit_code = TAKEN

    def __init__(self, holders: Sequence[Holder]) -> None:
        gpus = " and ".join(holder.gpu for holder in holders) or "these GPUs"
        super().__init__(
            f"another daemon shares {gpus} already",
            why=f"{describe(holders)}. A GPU can have only one daemon: two would give away the "
            "same memory twice",
            do=_ways_out(holders),
        )


def _ways_out(holders: Sequence[Holder]) -> str:
    mine = [one for one in holders if one.uid == os.getuid() and one.folder and one.pid]
    if mine:
        return (
            f"use it, with NVSHARE_SOCKET_DIR={mine[0].folder}, or end it, with `kill "
            f"{mine[0].pid}`. To share only GPUs that no daemon has, name them in the setting "
            "`devices`"
        )
    return (
        "ask its user to let you in (socket_mode, socket_group), or to end it. On a machine that "
        "several people use, `sudo nvshare service install` makes one daemon for all. To share "
        "only GPUs that no daemon has, name them in the setting `devices`"
    )


def hidden_daemon(environ: Mapping[str, str]) -> Holder | None:
    """Return the machine's daemon if it holds its GPUs in another network namespace."""
    if environ.get(environment.EMULATOR_NODE):
        return None
    if any(holder.folder == SYSTEM for holder in find_holders(environ)):
        return None
    try:
        is_there = answers(SYSTEM / SOCKET_NAME)
    except NvshareError:
        # It does not let us in.
        is_there = True
    return Holder("the GPUs of this machine", 0, 0, "", folder=SYSTEM) if is_there else None


def describe(holders: Iterable[Holder]) -> str:
    """Describe which holder has which GPUs."""
    by_process: dict[str, list[str]] = {}
    for holder in holders:
        by_process.setdefault(holder.who, []).append(holder.gpu)
    return "; ".join(f"{who} has {' and '.join(gpus)}" for who, gpus in by_process.items())


def _scope(environ: Mapping[str, str]) -> str:
    node = environ.get(environment.EMULATOR_NODE)
    if not node:
        return ""
    try:
        found = Path(node).stat()
    except OSError:
        return f"@{node}"
    return f"@{found.st_dev:x}-{found.st_ino:x}"
