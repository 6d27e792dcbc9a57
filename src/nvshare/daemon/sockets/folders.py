"""The folders and the sockets of the daemon: made, owned, and given the right permissions.

A lock on a file in the private folder says whether a daemon is alive. The kernel releases it when
the process dies in any way, so a socket that is found while the lock is free is stale. No tenant
can open that file: a file that can be opened can be locked (launch/private.py).
"""

import errno
import fcntl
import grp
import os
import resource
import socket
import stat
from contextlib import suppress
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.launch.private import LOCK

# How many connections wait to be accepted; further ones wait to connect. A newcomer is behind all.
_BACKLOG = 1024
_LONGEST = 107  # sun_path, without the zero at its end


class Folder:
    """A folder of sockets only: tenants can see its contents."""

    def __init__(self, path: Path, *, mode: int, group: str, look_mode: int = 0) -> None:
        self.path = path
        self._group = grp.getgrnam(group).gr_gid if group else -1
        self._modes = mode, look_mode
        self._opened = self._make_and_open()

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._opened)

    @property
    def is_gone(self) -> bool:
        """Whether the folder was removed, even if there is another one in its place."""
        try:
            return not os.path.samestat(os.fstat(self._opened), self.path.stat())
        except OSError:
            return True

    def make_again(self) -> None:
        """Make the folder again after it was removed. Raises NvshareError or OSError."""
        opened = self._make_and_open()
        os.close(self._opened)
        self._opened = opened

    def _make_and_open(self) -> int:
        self._make(*self._modes)
        return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def listen(self, name: str, mode: int) -> socket.socket:
        """Make a socket, and replace anything that has its name."""
        path = self.path / name
        if len(os.fsencode(path)) > _LONGEST:
            raise NvshareError(
                f"the socket {path} cannot be made",
                why=f"its path is longer than the {_LONGEST} bytes that the system allows",
                do="choose a shorter folder with NVSHARE_SOCKET_DIR",
            )
        path.unlink(missing_ok=True)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        # No client can connect before the permissions are right: the socket does not listen yet.
        sock.bind(str(path))
        os.chown(path, -1, self._group)
        path.chmod(mode)
        sock.listen(_BACKLOG)
        return sock

    def _make(self, socket_mode: int, look_mode: int) -> None:
        """Make the folder. Users who may use a socket must be able to reach it."""
        mode = 0o700 | (0o050 if socket_mode & 0o070 else 0) | (0o005 if socket_mode & 0o007 else 0)
        # Users who may only look need not list the folder.
        mode |= (0o010 if look_mode & 0o070 else 0) | (0o001 if look_mode & 0o007 else 0)
        try:
            self.path.mkdir(mode=mode, parents=True, exist_ok=True)
            found = self.path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise PermissionError(errno.EPERM, "it is not a folder that belongs to you")
            os.chown(self.path, -1, self._group)
            self.path.chmod(mode)
        except OSError as error:
            raise NvshareError(
                f"the folder {self.path} cannot be used for sockets",
                why=error.strerror,
                do="choose another one with --socket-dir or NVSHARE_SOCKET_DIR",
            ) from error


class Lock:
    """The private folder of the daemon, locked while this object is open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._lock = self._take()

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def _take(self) -> int:
        lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = os.pread(lock, 32, 0).decode().strip()
            os.close(lock)
            raise NvshareError(
                f"a daemon is running already, with pid {pid or '?'}",
                why=f"it holds the lock in {self.path}",
                do="use that one (`nvshare status`), or end it first, or choose another folder "
                "with --socket-dir",
            ) from error
        os.ftruncate(lock, 0)
        # A full disk has no room for the pid. It is for users only: the lock counts.
        with suppress(OSError):
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock


class Marker:
    """A file that exists while there are clients: it outlives a daemon that is killed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "in-use"
        self.was_set = self._path.exists()
        self._is_set: bool | None = None

    def set(self, in_use: bool) -> None:
        """Note whether there are clients."""
        if in_use is self._is_set:
            return
        self._is_set = in_use
        try:
            if in_use:
                self._path.touch()
            else:
                self._path.unlink(missing_ok=True)
        except OSError:
            # The folder is gone, and the daemon soon ends. The marker is not needed then.
            pass


def raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed; return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
