"""One connected socket on the event loop: bytes and descriptors in and out. Reads no frame.

asyncio's own transports cannot send a descriptor in its place among the bytes; hence this. It
writes at once, and keeps what the kernel does not take. A peer that takes nothing for long is cut
off: a client needs a few hundred bytes a minute.
"""

import array
import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable

# A few frames: a peer that has sent more is read again, after others.
_READ = 256
# One or two frames of a peer that floods, so that it delays others no longer than that takes.
_SIP = 48
_MOST_WAITING = 65536


class Connection:
    """A peer. ``on_bytes`` is called with the bytes that arrive, ``on_lost`` once at the end.

    When something has arrived, ``read`` calls ``read_some()``; or it returns false, and calls it
    later until nothing is left.
    """

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_bytes: Callable[[bytes], None],
        on_lost: Callable[[str], None],
        read: "Callable[[Connection], bool] | None" = None,
    ) -> None:
        self._sock = sock
        self._loop = loop
        self._on_bytes = on_bytes
        self._on_lost = on_lost
        self._read_now = read
        self._waiting: deque[tuple[bytes, int]] = deque()
        self._waiting_bytes = 0
        self._is_open = True
        # The descriptor that has come with the first bytes. The kernel drops later ones.
        self._takes_descriptor = True
        self._handed = -1
        sock.setblocking(False)
        # ``read`` has promised to read it later.
        self._is_waiting = False
        loop.add_reader(sock.fileno(), self._ready)

    @property
    def is_clear(self) -> bool:
        """Whether everything has been sent."""
        return self._is_open and not self._waiting

    def send(self, data: bytes, descriptor: int = -1) -> None:
        """Send bytes, and with the first of them a descriptor, which the caller keeps."""
        if not self._is_open:
            return
        if self._waiting:
            self._keep(data, descriptor)
            return
        try:
            sent = self._send(data, descriptor)
        except OSError as error:
            # Effects are being carried out, so the end is reported later.
            self._loop.call_soon(self.close, error.strerror or "broken")
            return
        if sent < len(data):
            self._keep(data[sent:], descriptor if sent == 0 else -1)
            self._loop.add_writer(self._sock.fileno(), self._write)

    def take_descriptor(self) -> int:
        """Return the received descriptor, or -1. The caller owns it, and there is only one."""
        handed, self._handed = self._handed, -1
        self._takes_descriptor = False
        return handed

    def close(self, why: str) -> None:
        """End the connection, and report it to ``on_lost``."""
        if not self._is_open:
            return
        _close(self.take_descriptor())
        self._is_open = False
        self._loop.remove_reader(self._sock.fileno())
        self._loop.remove_writer(self._sock.fileno())
        self._sock.close()
        for _, descriptor in self._waiting:
            _close(descriptor)
        self._waiting.clear()
        on_lost = self._on_lost
        # Break the reference cycle with the owner, so that it is freed with its last reference and
        # not by the garbage collector.
        self._on_bytes = self._on_lost = _ignore
        self._read_now = None
        on_lost(why)

    def read_some(self) -> bool:
        """Read once; false: there was nothing to read."""
        if not self._is_open:
            return False
        try:
            data = self._receive(_SIP if self._is_waiting else _READ)
        except (BlockingIOError, InterruptedError):
            if self._is_waiting:
                self._is_waiting = False
                self._loop.add_reader(self._sock.fileno(), self._ready)
            return False
        except OSError as error:
            self.close(error.strerror or "broken")
            return False
        if data:
            self._on_bytes(data)
        else:
            self.close("closed by the client")
        return True

    def _ready(self) -> None:
        if self._read_now is None:
            self.read_some()
        elif not self._read_now(self) and self._is_open:
            # The socket would be ready all the time.
            self._is_waiting = True
            self._loop.remove_reader(self._sock.fileno())

    def _receive(self, most: int) -> bytes:
        if not self._takes_descriptor:
            return self._sock.recv(most)
        # There is room for one descriptor: the kernel drops those that come with it.
        room = socket.CMSG_LEN(array.array("i").itemsize)
        data, messages, _, _ = self._sock.recvmsg(most, room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, content in messages:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                _close(self._handed)
                (self._handed,) = array.array("i", content)
        return data

    def _send(self, data: bytes, descriptor: int) -> int:
        try:
            if descriptor < 0:
                return self._sock.send(data, socket.MSG_NOSIGNAL)
            rights = array.array("i", [descriptor])
            message = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
            return self._sock.sendmsg([data], message, socket.MSG_NOSIGNAL)
        except (BlockingIOError, InterruptedError):
            return 0

    def _keep(self, data: bytes, descriptor: int) -> None:
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _MOST_WAITING:
            self._loop.call_soon(self.close, "it does not read the frames that it is sent")
            return
        self._waiting.append((data, os.dup(descriptor) if descriptor >= 0 else -1))

    def _write(self) -> None:
        while self._waiting:
            data, descriptor = self._waiting[0]
            try:
                sent = self._send(data, descriptor)
            except OSError as error:
                self.close(error.strerror or "broken")
                return
            if sent == 0:
                return
            _close(descriptor)
            self._waiting_bytes -= sent
            self._waiting.popleft()
            if sent < len(data):
                self._waiting.appendleft((data[sent:], -1))
                return
        self._loop.remove_writer(self._sock.fileno())


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


def _ignore(_: object) -> None:
    """Ignore a call after the end."""
