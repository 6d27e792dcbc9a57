"""A client that a test controls step by step: the interposer's side of the protocol."""

import os
import select
import socket
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from nvshare.daemon.gpus.survey import uuid_bytes
from nvshare.wire import frames
from nvshare.wire.codec import daemon_frames
from nvshare.wire.frames import FromDaemon
from nvshare.wire.places import SOCKET_NAME

SECONDS = 5.0
Kind = TypeVar("Kind")


def hello(uuid: str, **changes: Any) -> frames.Hello:
    """An ordinary HELLO."""
    values: dict[str, Any] = {
        "device_uuid": uuid_bytes(uuid),
        "allocation_kind": frames.AllocationKind.MANAGED,
        "flags": frames.HelloFlags(0),
        "allocated": 0,
        "pinned": 0,
        "swapped_out": 0,
        "memory_limit": 0,
        "compute_percent": 0,
        "limit_flags": frames.LimitFlags(0),
        "turn": 0,
        "group": bytes(16),
        "library_version": "test",
        "slot_key": 0,
    }
    return frames.Hello(**{**values, **changes})


class Client:
    """One connection."""

    def __init__(self, folder: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a timeout, a long queue before the daemon would be an error instead of a wait.
        self.sock.connect(str(folder / SOCKET_NAME))
        self.sock.settimeout(SECONDS)
        self.received: deque[FromDaemon] = deque()
        self.descriptors: deque[int] = deque()
        self.slot_key = 0
        self.page = -1
        self._decoder = daemon_frames()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()
        if self.page >= 0:
            os.close(self.page)
            self.page = -1

    def join(self, uuid: str, *, needs_page: bool = True, **changes: Any) -> frames.Welcome:
        """Register; frames after WELCOME and SETTINGS are left to be received."""
        self.send(hello(uuid, **changes))
        return self.be_welcome(needs_page=needs_page)

    def be_welcome(self, *, needs_page: bool = True) -> frames.Welcome:
        """Wait for the answer to HELLO. A daemon without descriptors has no page for the group."""
        welcome = self.receive()
        if isinstance(welcome, frames.Quota) or needs_page:
            assert isinstance(welcome, frames.Quota), welcome
            self.slot_key, self.page = welcome.slot_key, self.take_descriptor()
            welcome = self.receive()
        assert isinstance(welcome, frames.Welcome), welcome
        self.expect(frames.Settings)
        return welcome

    def send(self, *sent: frames.FromClient) -> None:
        """Send frames."""
        self.sock.sendall(b"".join(frame.pack() for frame in sent))

    def want(self, turn: int = 0) -> None:
        """Ask for a turn."""
        self.send(frames.Want(turn))

    def release(self, turn: int, **changes: Any) -> None:
        """Give a turn up."""
        values: dict[str, Any] = {
            "turn": turn,
            "reason": frames.ReleaseReason.IDLE,
            "wants": 0,
            "handed_turn": 0,
            "allocated": 0,
            "pinned": 0,
            "swapped_out": 0,
            "moved_bytes": 0,
            "moved_ns": 0,
        }
        self.send(frames.Released(**{**values, **changes}))

    def receive(self) -> FromDaemon | None:
        """Wait for a frame; None when the daemon has closed the connection."""
        while not self.received:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.sock, 65536, 8)
            except ConnectionResetError:
                return None
            self.descriptors.extend(descriptors)
            if not data:
                return None
            self.received.extend(self._decoder.feed(data))
        return self.received.popleft()

    def take(self) -> list[FromDaemon]:
        """Return the frames that have come so far. For a non-blocking socket."""
        with suppress(BlockingIOError):
            data, descriptors, _, _ = socket.recv_fds(self.sock, 65536, 8)
            self.descriptors.extend(descriptors)
            self.received.extend(self._decoder.feed(data))
        taken = list(self.received)
        self.received.clear()
        return taken

    def expect(self, kind: type[Kind]) -> Kind:
        """Wait for a frame, which has to be of this kind. Settings may come at any time."""
        frame = self.receive()
        while isinstance(frame, frames.Settings) and kind is not frames.Settings:
            frame = self.receive()
        assert isinstance(frame, kind), frame
        return frame

    def take_descriptor(self) -> int:
        """Return the descriptor that came with the last frame."""
        return self.descriptors.popleft()

    def is_quiet(self, seconds: float = 0.05) -> bool:
        """Whether no frame comes within this time. A longer time is a stronger proof."""
        while self.received or select.select([self.sock], [], [], seconds)[0]:
            frame = self.receive()
            if frame is None:
                return False
            if not isinstance(frame, frames.Settings):
                self.received.appendleft(frame)
                return False
        return True
