"""The page that a group has for each GPU. Its rules are in native/common/quota.h.

Every process of the group can write to it, and shorten the file. So nothing in it is believed, and
it is not mapped here: to read a mapped file that has become shorter would end the daemon.
"""

import os
import secrets
import struct
from pathlib import Path

MAGIC = int.from_bytes(b"NVQUOTA1", "little")
NO_LIMIT = 2**64 - 1
CHECK = 0x9E3779B97F4A7C15
SLOTS = 1024
HEADER_SIZE = 192
SLOT_SIZE = 32
SIZE = HEADER_SIZE + SLOTS * SLOT_SIZE

_MAGIC = struct.Struct("<Q")
_LIMIT = struct.Struct("<QQ")
_LIMIT_AT = 8
_SOURCE = struct.Struct("<Q")
_SOURCE_AT = 32
# As in enum quota_source of quota.h.
SOURCES = {None: 0, "environment": 1, "set": 2, "pod": 3}
_SEATS = struct.Struct("<I")
_SEATS_AT = 24
_SLOT = struct.Struct("<QQQQ")
# No GPU has that much memory.
_MOST_BYTES = 1 << 52


class Page:
    """One page, which outlives the daemon: the next one takes it up with all who have a seat."""

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.descriptor = os.open(path, flags, 0o600)
        self._seats: dict[int, int] = {}
        # Those whose processes have not come back since the daemon was started.
        self._missing: set[int] = set()
        self._limit: int | None = None
        if self._read(0, _MAGIC) == (MAGIC,):
            self._take_up()
        else:
            self._make()

    def sit(self, seat: int) -> tuple[int, int] | None:
        """Give a process a slot and a seat: those that it says to have, or new ones.

        None: there is no slot left. Raises OSError when there is no room for the page.
        """
        slot = self._seats.get(seat)
        if slot is not None and seat in self._missing:
            self._missing.discard(seat)
            return slot, seat
        taken = set(self._seats.values())
        slot = next((number for number in range(SLOTS) if number not in taken), None)
        if slot is None:
            return None
        seat = secrets.randbits(63) + 1
        # It is written in full, so that whoever maps the page finds memory behind every slot.
        self._write(_slot_at(slot), _SLOT.pack(seat, 0, 0, 0))
        self._seats[seat] = slot
        self._count()
        return slot, seat

    def leave(self, seat: int) -> None:
        """Clear the slot of a process that is gone."""
        slot = self._seats.pop(seat, None)
        self._missing.discard(seat)
        if slot is not None:
            self._write(_slot_at(slot), _SLOT.pack(0, 0, 0, 0))
            self._count()

    def forget_missing(self) -> None:
        """Those who have not come back are gone."""
        for seat in list(self._missing):
            self.leave(seat)

    @property
    def limit(self) -> int | None:
        """What the group may use; None: everything."""
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        """From the moment on when this returns, nobody can pass it."""
        self._limit = limit
        value = NO_LIMIT if limit is None else limit
        self._write(_LIMIT_AT, _LIMIT.pack(value, value ^ CHECK))

    def name_source(self, source: str | None) -> None:
        """Say who has set the limit, for those whom it refuses something."""
        self._write(_SOURCE_AT, _SOURCE.pack(SOURCES[source]))

    def used(self) -> int:
        """What the group uses by now."""
        end = _slot_at(max(self._seats.values(), default=-1) + 1)
        content = os.pread(self.descriptor, end, 0).ljust(end, b"\0")
        slots = (_SLOT.unpack_from(content, _slot_at(slot)) for slot in self._seats.values())
        return sum(min(slot[1], _MOST_BYTES) for slot in slots)

    @property
    def is_empty(self) -> bool:
        """Whether nobody has a seat."""
        return not self._seats

    def close(self) -> None:
        """Leave the page to those who use it, and to the next daemon."""
        os.close(self.descriptor)

    def remove(self) -> None:
        """Nobody will need it any more."""
        self.path.unlink(missing_ok=True)
        self.close()

    def _make(self) -> None:
        os.ftruncate(self.descriptor, 0)
        os.ftruncate(self.descriptor, SIZE)
        self._count()
        self.limit = None
        self._write(0, _MAGIC.pack(MAGIC))

    def _take_up(self) -> None:
        os.ftruncate(self.descriptor, SIZE)
        limit = self._read(_LIMIT_AT, _LIMIT)
        if limit is not None and limit[0] ^ CHECK == limit[1] and limit[0] != NO_LIMIT:
            self._limit = limit[0]
        content = os.pread(self.descriptor, SIZE, 0).ljust(SIZE, b"\0")
        for slot in range(SLOTS):
            seat = _SLOT.unpack_from(content, _slot_at(slot))[0]
            if seat and seat not in self._seats:
                self._seats[seat] = slot
        self._missing = set(self._seats)
        self._count()

    def _count(self) -> None:
        count = max(self._seats.values(), default=-1) + 1
        self._write(_SEATS_AT, _SEATS.pack(count))

    def _read(self, at: int, layout: struct.Struct) -> tuple[int, ...] | None:
        content = os.pread(self.descriptor, layout.size, at)
        return layout.unpack(content) if len(content) == layout.size else None

    def _write(self, at: int, content: bytes) -> None:
        os.pwrite(self.descriptor, content, at)


def _slot_at(slot: int) -> int:
    return HEADER_SIZE + slot * SLOT_SIZE
