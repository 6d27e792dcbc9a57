"""Who is at the other end of a Unix socket."""

import socket
import struct

_CREDENTIALS = struct.Struct("3i")


def peer(sock: socket.socket) -> tuple[int, int, int]:
    """Ask the kernel for pid, uid and gid of the other end. A pid that we cannot see is 0."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    return int(pid), int(uid), int(gid)
