"""Bytes that are nearly frames, or not at all.

A connection ends with its first invalid frame, and the daemon reads nothing after that. So each one
first sends frames that are odd but have to be tolerated, and then one invalid frame. In this way
the daemon judges every single frame.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, fields

from nvshare.wire import frames
from nvshare.wire.frames import HEADER, MAGIC, MAX_PAYLOAD, VERSION
from protocol.model import read_protocol

from .client import hello

_LAST_TYPE = 200
_MOST = frames.MOST_BYTES
_LEAST_SIZES = {frame.number: frame.least_size for frame in read_protocol().frames}


@dataclass(frozen=True)
class Attack:
    """The frames of one connection, and whether the daemon has to answer with an error."""

    data: bytes
    is_told: bool


class Fuzzer:
    """Makes attacks of a number of frames each."""

    def __init__(self, uuid: str, seed: int) -> None:
        self._chance = random.Random(seed)
        self._hello = hello(uuid).pack()
        self._good = [
            self._hello,
            frames.Want(0).pack(),
            frames.Memory(1 << 30, 0, 0, 0).pack(),
            frames.Usage(1, 2, 3, 4).pack(),
            frames.Moved(0, 0, 0, 0, 1, 1, 1).pack(),
            frames.Released(1, frames.ReleaseReason.IDLE, 1, 0, 0, 0, 0, 0, 0).pack(),
        ]
        self._odd: list[Callable[[], bytes]] = [
            *(self._want, self._memory, self._moved, self._earlier),
        ]
        self._fatal: list[Callable[[], bytes]] = [
            *(self._oversized, self._of_no_version, self._short, self._out_of_order),
            *(self._no_such_turn, self._beyond_reason, self._no_such_reason),
        ]
        self._vague = [self._cut, self._damaged, self._random]

    def attack(self, count: int) -> Attack:
        """Make the frames of one connection; half of them register first."""
        registered = self._chance.random() < 0.5
        made = [self._hello] if registered else []
        while len(made) < count - 1:
            is_odd = registered and self._chance.random() < 0.1
            made.append(self._chance.choice(self._odd)() if is_odd else self._harmless(registered))
        is_told = self._chance.random() < 0.6
        ends = self._fatal if is_told else self._vague
        return Attack(b"".join(made) + self._chance.choice(ends)(), is_told)

    def _harmless(self, registered: bool) -> bytes:
        """A frame of a later version, or numbers without any effect."""
        if registered and self._chance.random() < 0.2:
            numbers = [self._chance.getrandbits(62) for _ in range(4)]
            return self._longer(frames.Usage(*numbers).pack())
        size = self._chance.randrange(65)
        return self._frame(self._chance.randrange(_LAST_TYPE, 65536), self._bytes(size))

    def _want(self) -> bytes:
        return self._longer(frames.Want(self._chance.getrandbits(62)).pack())

    def _memory(self) -> bytes:
        allocated, pinned, swapped = (self._chance.randrange(_MOST) for _ in range(3))
        ticket = self._chance.getrandbits(64)
        return self._longer(frames.Memory(allocated, pinned, swapped, ticket).pack())

    def _moved(self) -> bytes:
        allocated, pinned, swapped, out, in_ = (self._chance.randrange(_MOST) for _ in range(5))
        turn, ns = self._chance.getrandbits(62), self._chance.getrandbits(50)
        return frames.Moved(turn, allocated, pinned, swapped, out, in_, ns).pack()

    def _oversized(self) -> bytes:
        size = self._chance.randint(MAX_PAYLOAD + 1, 2**32 - 1)
        return HEADER.pack(MAGIC, VERSION, self._chance.randint(1, 6), size, 0)

    def _of_no_version(self) -> bytes:
        return HEADER.pack(MAGIC, self._chance.randint(VERSION + 1, 65535), 1, 0, 0)

    def _short(self) -> bytes:
        """A frame without some of its fields, including required ones."""
        good = self._chance.choice(self._good)
        kind = HEADER.unpack_from(good)[2]
        size = self._chance.randrange(_LEAST_SIZES[kind])
        return self._frame(kind, good[HEADER.size : HEADER.size + size])

    def _earlier(self) -> bytes:
        """A frame of an earlier version: it ends before some of the fields added since."""
        good = frames.Memory(1 << 30, 0, 0, 0).pack()
        size = self._chance.randint(_LEAST_SIZES[frames.Memory.TYPE], len(good) - HEADER.size)
        return self._frame(frames.Memory.TYPE, good[HEADER.size : HEADER.size + size])

    def _out_of_order(self) -> bytes:
        """A second HELLO; or, unless there was one, too early a WANT and then too late a HELLO."""
        return frames.Want(0).pack() + self._hello + self._hello

    def _no_such_turn(self) -> bytes:
        turn = self._chance.randrange(2**40, 2**64)
        return frames.Released(turn, frames.ReleaseReason.IDLE, 1, 0, 0, 0, 0, 0, 0).pack()

    def _beyond_reason(self) -> bytes:
        return frames.Memory(self._chance.randrange(_MOST + 1, 2**64), 0, 0, 0).pack()

    def _no_such_reason(self) -> bytes:
        layout = frames.Released.LAYOUT
        reason = self._chance.randrange(3, 2**32)
        rest = [0] * (len(fields(frames.Released)) - 3)
        return self._frame(frames.Released.TYPE, layout.pack(1, reason, 1, *rest))

    def _cut(self) -> bytes:
        good = self._chance.choice(self._good)
        return good[: self._chance.randrange(1, len(good))]

    def _damaged(self) -> bytes:
        data = bytearray(self._chance.choice(self._good))
        # Behind the header more often than in it, or most would fail at the magic.
        for _ in range(self._chance.randint(1, 4)):
            low = 0 if self._chance.random() < 0.2 else HEADER.size
            data[self._chance.randrange(low, len(data))] = self._chance.randrange(256)
        return bytes(data)

    def _random(self) -> bytes:
        return self._bytes(self._chance.randint(1, 64))

    def _longer(self, frame: bytes) -> bytes:
        """A frame as a later version may send it: with more after the known fields."""
        extra = self._bytes(self._chance.randrange(9))
        return self._frame(HEADER.unpack_from(frame)[2], frame[HEADER.size :] + extra)

    def _frame(self, kind: int, payload: bytes) -> bytes:
        return HEADER.pack(MAGIC, VERSION, kind, len(payload), 0) + payload

    def _bytes(self, count: int) -> bytes:
        return self._chance.randbytes(count)
