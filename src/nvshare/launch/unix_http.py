"""HTTP on a Unix socket, which has a path or, after a zero byte, an abstract name."""

import http.client
import socket


class UnixConnection(http.client.HTTPConnection):
    """A connection to such a socket."""

    def __init__(self, address: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._address = address

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address)
