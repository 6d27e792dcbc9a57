"""Bytes to frames, as they arrive. Does no I/O and judges no order; see daemon/clients/session.py.

Frames encode themselves (``frame.pack()``), so there is only a decoder here. It may be fed byte by
byte. After an error it must not be used again: the start of the next frame is unknown.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar, get_args

from nvshare.wire.frames import (
    HEADER,
    MAGIC,
    MAX_PAYLOAD,
    OLDEST_VERSION,
    VERSION,
    FromClient,
    FromDaemon,
)

Received = TypeVar("Received")


class WireError(Exception):
    """The bytes are no valid frame. The connection cannot be used any more."""


class VersionError(WireError):
    """The peer speaks another version of the protocol."""

    def __init__(self, version: int) -> None:
        known = (
            f"version {VERSION}" if OLDEST_VERSION == VERSION else f"{OLDEST_VERSION} to {VERSION}"
        )
        super().__init__(f"the frames have version {version}, and this side understands {known}")
        self.version = version


class Decoder(Generic[Received]):
    """Takes bytes, gives frames. An incomplete frame waits for the rest.

    Use ``client_frames()`` or ``daemon_frames()`` to make one.
    """

    __slots__ = ("_readers", "_rest")

    def __init__(self, readers: Mapping[int, Callable[[bytes], Received]]) -> None:
        self._readers = readers
        self._rest = b""

    @property
    def waiting(self) -> int:
        """The number of bytes of an incomplete frame."""
        return len(self._rest)

    def feed(self, data: bytes) -> Iterator[Received]:
        """Take bytes; give the frames that are complete now.

        The iterator has to be exhausted before the next call. Frames before an invalid one are
        given before the error is raised.
        """
        # The usual case: a read brings whole frames, and nothing is left over.
        if self._rest:
            data = self._rest + data
            self._rest = b""
        start, end = 0, len(data)
        while end - start >= HEADER.size:
            magic, version, kind, length, _ = HEADER.unpack_from(data, start)
            _check(magic, version, length)
            after = start + HEADER.size + length
            if after > end:
                break
            reader = self._readers.get(kind)
            if reader is not None:
                yield _read(reader, kind, data[start + HEADER.size : after])
            start = after
        self._rest = data[start:]


def client_frames() -> Decoder[FromClient]:
    """Return a decoder for frames of clients."""
    return Decoder(_FROM_CLIENT)


def daemon_frames() -> Decoder[FromDaemon]:
    """Return a decoder for frames of the daemon."""
    return Decoder(_FROM_DAEMON)


def _check(magic: int, version: int, length: int) -> None:
    if magic != MAGIC:
        raise WireError(f"a frame does not begin with {magic:#010x}")
    if not OLDEST_VERSION <= version <= VERSION:
        raise VersionError(version)
    if length > MAX_PAYLOAD:
        raise WireError(f"a frame of {length} bytes is too long: {MAX_PAYLOAD} is the most")


def _read(reader: Callable[[bytes], Received], kind: int, payload: bytes) -> Received:
    try:
        return reader(payload)
    except struct.error as error:
        raise WireError(f"a frame of type {kind} has only {len(payload)} bytes") from error
    except ValueError as error:
        raise WireError(f"a frame of type {kind}: {error}") from error


_FROM_CLIENT: dict[int, Callable[[bytes], FromClient]] = {
    one.TYPE: one.unpack for one in get_args(FromClient)
}
_FROM_DAEMON: dict[int, Callable[[bytes], FromDaemon]] = {
    one.TYPE: one.unpack for one in get_args(FromDaemon)
}
