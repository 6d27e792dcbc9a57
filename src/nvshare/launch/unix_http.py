"""HTTP on a Unix socket, which has a path or, after a zero byte, an abstract name."""

import http.client
import socket
import struct

_CREDENTIALS = struct.Struct("3i")


class UnixConnection(http.client.HTTPConnection):
    """A connection that knows its peer."""

    def __init__(self, address: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._address = address

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address)


def peer(sock: socket.socket) -> tuple[int, int, int]:
    """Ask the kernel for pid, uid and gid of the other end. A pid that we cannot see is 0."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    return int(pid), int(uid), int(gid)
