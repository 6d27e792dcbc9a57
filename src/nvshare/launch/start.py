"""Starts a daemon of this user in the background, and waits until it is ready."""

import errno
import fcntl
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from nvshare.errors import NvshareError
from nvshare.launch.place import check_node, find_daemon, own_folder
from nvshare.launch.preload import without_preload
from nvshare.launch.private import make_private
from nvshare.launch.trust import is_trusted
from nvshare.wire import environment

# A daemon that was started automatically ends after this time without clients. A large program can
# take a good part of it before its first GPU call.
_IDLE_EXIT = 60.0
_PATIENCE = 30.0
LOG = "daemon.log"
# The exit code of a daemon whose GPUs another one shares.
TAKEN = 75


def find_or_start(
    environ: Mapping[str, str],
    announce: Callable[[str], None] = lambda _: None,
    *,
    idle_exit: float | None = None,
    is_paced: bool = False,
) -> Path:
    """Return the folder of a daemon that listens; start one if there is none, and say so.

    ``idle_exit`` is how long it stays without clients, if not the default; 0: forever. With
    ``is_paced``, the settings of a daemon started here count the seconds of an emulated node.
    """
    check_node(environ)
    folder = find_daemon(environ)
    if folder is not None:
        return folder
    if (folder := _daemon_elsewhere(environ, announce)) is not None:
        return folder
    folder = own_folder(environ)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_trusted(folder, environ):
            raise PermissionError(
                errno.EPERM, "it belongs to another user, or others can write to it"
            )
        private = make_private(folder, environ)
        lock = (private / "start.lock").open("w")
        file = os.fdopen(_open_for_us_only(private / LOG), "ab")
    except OSError as error:
        raise NvshareError(
            "no daemon is running, and none can be started",
            why=f"the folder {folder} cannot be used: {error.strerror}",
            do="choose another folder with NVSHARE_SOCKET_DIR",
        ) from error
    with lock, file:
        # Of many concurrent callers, one starts the daemon, and the others find it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if find_daemon(environ) is None:
            idle = _IDLE_EXIT if idle_exit is None else idle_exit
            _start(
                environ,
                folder,
                private / LOG,
                file,
                ["--paced"] * is_paced + [f"--idle-exit={idle:g}"],
            )
            announce(f"started a daemon, in {folder}")
    return folder


def _open_for_us_only(path: Path) -> int:
    """Open a log, for its owner only: it contains names, and others may reach its folder."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _daemon_elsewhere(environ: Mapping[str, str], announce: Callable[[str], None]) -> Path | None:
    """Return the folder of any user's daemon that has GPUs of this machine and lets us in.

    Users are told if it is another user's daemon: it decides when their programs run.
    """
    if environ.get(environment.SOCKET_DIR):
        # The user has named the daemon.
        return None
    # This is slow to import, and there is usually a daemon of our own.
    from nvshare.launch.holders import find_holders, usable

    holder = usable(find_holders(environ))
    if holder is None or holder.folder is None:
        return None
    if holder.uid != os.getuid() or holder.folder != own_folder(environ):
        announce(f"using {holder.who}, which shares {holder.gpu}")
    return holder.folder


def _start(
    environ: Mapping[str, str], folder: Path, path: Path, file: BinaryIO, options: Sequence[str]
) -> None:
    command = [sys.executable, "-m", "nvshare", "daemon", *options]
    with _Readiness() as readiness:
        before = file.tell()
        process = subprocess.Popen(
            [*command, f"--socket-dir={folder}"],
            env={**without_preload(environ), "NOTIFY_SOCKET": readiness.address},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd="/",
            # Its own session: Control-C and the end of the terminal do not reach it.
            start_new_session=True,
        )
        if readiness.wait(process, _PATIENCE):
            # It outlives us, so it is not waited for here.
            process.returncode = 0
            return
    if process.returncode == TAKEN:
        from nvshare.launch.holders import TakenError, find_holders

        raise TakenError(find_holders(environ))
    raise NvshareError(
        "no daemon is running, and none could be started",
        why=_last_words(path, before),
        do=f"the log is {path}; `nvshare doctor` checks this machine",
    )


class _Readiness:
    """A socket on which the daemon says READY=1, as it would to a service manager."""

    def __enter__(self) -> "_Readiness":
        self._folder = tempfile.TemporaryDirectory(prefix="nvshare-")
        self.address = str(Path(self._folder.name) / "notify")
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sock.bind(self.address)
        return self

    def __exit__(self, *error: object) -> None:
        self._sock.close()
        self._folder.cleanup()

    def wait(self, process: "subprocess.Popen[bytes]", seconds: float) -> bool:
        """Wait until the daemon is ready; False: it has ended."""
        # Loads ctypes, which is slow, and starting a daemon is rare.
        from nvshare import kernel

        end = kernel.pidfd_open(process.pid)
        try:
            while True:
                ready, _, _ = select.select([self._sock.fileno(), end], [], [], seconds)
                if self._sock.fileno() in ready:
                    if b"READY=1" in self._sock.recv(4096):
                        return True
                elif end in ready:
                    process.wait()
                    return False
                else:
                    process.kill()
                    process.wait()
                    return False
        finally:
            os.close(end)


def _last_words(path: Path, since: int) -> str:
    with path.open("rb") as file:
        file.seek(since)
        text = file.read().decode(errors="replace").strip()
    return text or "it ended without a message"
