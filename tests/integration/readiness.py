"""Waiting until a daemon is ready."""

import os
import select
import socket
from pathlib import Path


class Readiness:
    """A socket on which a daemon says READY=1, as it would to a service manager."""

    # Enough for a start or an end, on a busy machine.
    SECONDS = 20.0

    def __init__(self, address: Path) -> None:
        address.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(address))
        self.environ = {"NOTIFY_SOCKET": str(address)}

    def wait(self, pid: int, log: Path) -> None:
        """Wait until a start, or a reload, is complete."""
        end = os.pidfd_open(pid)
        try:
            while True:
                ready, _, _ = select.select([self._socket.fileno(), end], [], [], self.SECONDS)
                told = self._socket.fileno() in ready
                assert told, f"the daemon does nothing, or has ended: {log.read_text()}"
                if self._socket.recv(4096).startswith(b"READY=1"):
                    return
        finally:
            os.close(end)

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()
