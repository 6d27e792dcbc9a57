"""Which peers are trusted as the daemon: any user can make a folder in /tmp, and a socket in it.

The folder, the socket in it and the process that listens there must belong to root, to our own
user, or to the user that NVSHARE_DAEMON_UID names; at /run/nvshare, where only root can make a
folder, also to the owner of that folder. No other user may be able to write to the folder.
native/interposer/session/trust.c has the same rule for programs, and a test compares the two.
"""

import os
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.launch.peer import peer
from nvshare.wire import environment
from nvshare.wire.places import MACHINE_FOLDER

SYSTEM = Path(MACHINE_FOLDER)


class Trust(IntEnum):
    """What is wrong with a place, if anything. The same names and order as in trust.h."""

    YES = 0
    NO_FOLDER = 1
    FOLDER_OWNER = 2
    FOLDER_MODE = 3
    NO_SOCKET = 4
    SOCKET_OWNER = 5
    PEER = 6


_TEXTS = {
    Trust.NO_FOLDER: "it is not a folder",
    Trust.FOLDER_OWNER: "it belongs to another user",
    Trust.FOLDER_MODE: "other users can write to it",
    Trust.NO_SOCKET: "the file in the place of its socket is not a socket",
    Trust.SOCKET_OWNER: "its socket belongs to another user",
    Trust.PEER: "a process of another user listens on its socket",
}


@dataclass(frozen=True)
class File:
    """A file, as lstat sees it."""

    mode: int
    owner: int


@dataclass(frozen=True)
class Believer:
    """The users that are trusted. ``is_machine``: at the place of the machine's daemon."""

    self: int
    named: int | None = None
    is_machine: bool = False

    def folder(self, folder: File) -> Trust:
        """Judge a folder, regardless of its contents."""
        if not stat.S_ISDIR(folder.mode):
            return Trust.NO_FOLDER
        if not self._believes(folder, folder.owner):
            return Trust.FOLDER_OWNER
        return Trust.FOLDER_MODE if folder.mode & 0o022 else Trust.YES

    def place(self, folder: File, sock: File) -> Trust:
        """Judge a folder and a socket before connecting."""
        if (verdict := self.folder(folder)) != Trust.YES:
            return verdict
        if not stat.S_ISSOCK(sock.mode):
            return Trust.NO_SOCKET
        return Trust.YES if self._believes(folder, sock.owner) else Trust.SOCKET_OWNER

    def peer(self, folder: File, uid: int) -> Trust:
        """Judge the listening process, as the kernel identifies it."""
        return Trust.YES if self._believes(folder, uid) else Trust.PEER

    def _believes(self, folder: File, uid: int) -> bool:
        return uid in (0, self.self, self.named) or (self.is_machine and uid == folder.owner)


def believer(folder: Path, environ: Mapping[str, str]) -> Believer:
    """Return the users that are trusted at a place."""
    named = environ.get(environment.DAEMON_UID, "")
    is_number = named.isascii() and named.isdecimal()
    return Believer(os.getuid(), int(named) if is_number else None, folder == SYSTEM)


def is_trusted(folder: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a folder exists, and can be that of a trusted daemon."""
    try:
        return believer(folder, environ).folder(_look(folder)) == Trust.YES
    except OSError:
        return False


def judge(path: Path, environ: Mapping[str, str]) -> Trust:
    """Judge a socket before connecting. Raises OSError if there is none."""
    folder = path.parent
    return believer(folder, environ).place(_look(folder), _look(path))


def judge_peer(sock: socket.socket, path: Path, environ: Mapping[str, str]) -> Trust:
    """Judge the peer of a connected socket."""
    folder = path.parent
    return believer(folder, environ).peer(_look(folder), peer(sock)[1])


def not_believed(path: Path, verdict: Trust) -> NvshareError:
    """Return the error that says why a peer is not trusted."""
    try:
        owner = path.parent.stat().st_uid
    except OSError:
        owner = 0
    return NvshareError(
        f"the daemon in {path.parent} is not trusted",
        why=_TEXTS[verdict],
        do=f"to trust it, set {environment.DAEMON_UID}={owner}; to use another daemon, name its "
        "folder in NVSHARE_SOCKET_DIR",
    )


def name_owner(folder: Path) -> dict[str, str]:
    """Return the variables that make programs trust the owner of a daemon's folder."""
    try:
        owner = folder.stat().st_uid
    except OSError:
        return {}
    if owner in (0, os.getuid()) or folder == SYSTEM:
        return {}
    return {environment.DAEMON_UID: str(owner)}


def _look(path: Path) -> File:
    found = path.lstat()
    return File(found.st_mode, found.st_uid)
