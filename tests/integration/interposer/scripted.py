"""A daemon that a test controls frame by frame."""

import array
import os
import queue
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from nvshare.wire.codec import Decoder, client_frames
from nvshare.wire.frames import (
    Answer,
    Evict,
    FromClient,
    FromDaemon,
    Hello,
    Host,
    Memory,
    Moved,
    Pinned,
    Refused,
    SettingFlags,
    Settings,
    Usage,
    Verdict,
    Welcome,
)
from nvshare.wire.places import SOCKET_NAME

Told = TypeVar("Told")


def hand_over_ends() -> tuple[int, int]:
    """Two ends of a socket pair, as the daemon makes one for holder and next program."""
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


class Link:
    """One connection. Questions about memory are answered at once, unless ``verdict`` is None."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._decoder: Decoder[FromClient] = client_frames()
        self._frames: queue.Queue[FromClient | None] = queue.Queue()
        self._usages: queue.Queue[Usage] = queue.Queue()
        self._first: FromClient | None = None
        self.verdict: Verdict | None = Verdict.YES
        self.missing = 0
        self.pinned: Pinned | None = None
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        with suppress(OSError):
            while data := self._sock.recv(65536):
                for frame in self._decoder.feed(data):
                    if isinstance(frame, Memory) and frame.ticket and self.verdict is not None:
                        self.send(Answer(frame.ticket, self.verdict, self.missing))
                    if isinstance(frame, Usage):
                        self._usages.put(frame)
                    elif isinstance(frame, Pinned):
                        self.pinned = frame
                    else:
                        self._frames.put(frame)
        self._frames.put(None)

    def next(self, kind: type | UnionType, seconds: float = 10) -> Any:
        """The next frame, which has to be of this kind."""
        frame, self._first = self._first, None
        if frame is None:
            frame = self._frames.get(timeout=seconds)
        assert frame is not None, "the client has closed the connection"
        assert isinstance(frame, kind), frame
        return frame

    def told(self, kind: type[Told], seconds: float = 10) -> Told:
        """The next frame, which has to be of this kind, unless it is about memory."""
        while not isinstance(frame := self.next(object, seconds), kind):
            assert isinstance(frame, Memory | Moved | Host | Refused), frame
        return frame

    def drop(self) -> None:
        """Forget the frames that have come so far."""
        self._first = None
        with suppress(queue.Empty):
            while True:
                self._frames.get_nowait()

    def usage(self, seconds: float = 10) -> Usage:
        """The next USAGE, which comes now and then; other methods do not see these frames."""
        try:
            return self._usages.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError("the client has not told its usage") from None

    def silent(self, seconds: float = 0.2) -> bool:
        """Whether no frame comes within this time."""
        if self._first is None:
            with suppress(queue.Empty):
                self._first = self._frames.get(timeout=seconds)
        return self._first is None

    def ends(self, seconds: float = 10) -> bool:
        """Whether the client hangs up, whatever it sends before."""
        self._sock.settimeout(seconds)
        with suppress(TimeoutError):
            while self._sock.recv(65536):
                pass
            return True
        return False

    def send(self, frame: FromDaemon, descriptor: int | None = None) -> None:
        """Send a frame, perhaps with a descriptor."""
        self.send_bytes(frame.pack(), descriptor)

    def send_bytes(self, data: bytes, descriptor: int | None = None) -> None:
        """Send bytes that need not be a frame."""
        if descriptor is None:
            self._sock.sendall(data)
            return
        rights = array.array("i", [descriptor])
        self._sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights.tobytes())])

    def flood(self, data: bytes) -> None:
        """Send the same again and again, until the connection ends."""

        def send() -> None:
            with suppress(OSError):
                while True:
                    self._sock.sendall(data)

        threading.Thread(target=send, daemon=True).start()

    def welcome(self, inflight_us: int = 50_000, idle_us: int = 10_000) -> Hello:
        """Register the client."""
        hello: Hello = self.next(Hello)
        self.send(Welcome(client_id=1, daemon_version="scripted"))
        self.send(Settings(inflight_us, idle_us, SettingFlags(0), usage_ms=0))
        return hello

    def until_taken_in(self) -> None:
        """Wait until the client has carried out its orders: it answers this one after them."""
        self.send(Evict(evict_bytes=0))
        while not isinstance(self.next(object), Moved):
            pass

    def close(self) -> None:
        """Hang up."""
        # The receiving thread has the socket too, so closing it is not enough.
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()


class Scripted:
    """A socket that clients connect to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._links: list[Link] = []
        self._listener: socket.socket | None = None

    def listen(self) -> None:
        """Listen."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / SOCKET_NAME
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.fspath(path))
        self._listener.listen(16)

    def accept(self, seconds: float = 10) -> Link:
        """The next client."""
        assert self._listener is not None
        self._listener.settimeout(seconds)
        link = Link(self._listener.accept()[0])
        self._links.append(link)
        return link

    def die(self) -> None:
        """Close the socket and all connections."""
        for link in self._links:
            link.close()
        if self._listener is not None:
            self._listener.close()
        (self.folder / SOCKET_NAME).unlink(missing_ok=True)
