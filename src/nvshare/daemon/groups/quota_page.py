"""The quota page that a group has for each GPU. Its rules are in native/common/quota.h.

It is an unnamed memory file, and sealed: no process can change its size, so that every mapping of
it stays valid. Every process of the group can write to it. So nothing in it is trusted; a value
that the daemon knows better is written again when it differs.

It outlives the daemon with the processes that have it: they hand it to the next one (HELLO).
"""

import fcntl
import os
import secrets
import struct

from nvshare.kernel import has_sealed_size, memory_file, seal_size
from nvshare.wire.frames import MOST_BYTES, MOST_SLOT

MAGIC = int.from_bytes(b"NVQUOTA1", "little")
NO_LIMIT = 2**64 - 1
CHECK = 0x9E3779B97F4A7C15
SLOTS = MOST_SLOT + 1
HEADER_SIZE = 192
SLOT_SIZE = 32
SIZE = HEADER_SIZE + SLOTS * SLOT_SIZE

_MAGIC = struct.Struct("<Q")
_LIMIT = struct.Struct("<QQ")
_LIMIT_AT = 8
_SOURCE = struct.Struct("<Q")
_SOURCE_AT = 32
# As in enum quota_source of quota.h.
SOURCES = {None: 0, "environment": 1, "set": 2, "pod": 3, "ceiling": 4}
_HELD = struct.Struct("<Q")
_HELD_AT = 40
_USED_SLOTS = struct.Struct("<I")
_USED_SLOTS_AT = 24
_KEY = struct.Struct("<Q")
_SLOT = struct.Struct("<QQQQ")
# No GPU has that much memory.
_MOST_BYTES = MOST_BYTES


class Page:
    """One page, which owns its descriptor: see make() and take_up()."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        # The slots, by key.
        self._slots: dict[int, int] = {}
        # The keys whose processes have not reconnected since the daemon was started.
        self._missing: set[int] = set()
        self._limit: int | None = None
        self._source: str | None = None
        self._driver_memory = 0
        # The bytes that the daemon determines, by offset; None: they have changed.
        self._right: list[tuple[int, bytes]] | None = None
        # The limit under the previous daemon, until this one surely knows it.
        self.inherited: int | None = None

    @classmethod
    def make(cls) -> "Page":
        """Make a page without a limit. Raises OSError when there is no room for it."""
        descriptor = memory_file("nvshare-quota")
        try:
            os.fchmod(descriptor, 0o600)
            # It is written in full, so that every mapping has memory behind every slot.
            os.pwrite(descriptor, bytes(SIZE), 0)
            # From now on other processes can only write to it.
            seal_size(descriptor)
            page = cls(descriptor)
            page._count()
            page.limit = None
            page._write(0, _MAGIC.pack(MAGIC))
        except OSError:
            os.close(descriptor)
            raise
        return page

    @classmethod
    def take_up(cls, descriptor: int) -> "Page | None":
        """Take up a page that a process has from an earlier daemon. None: it is no such page."""
        if not _is_sealed(descriptor):
            os.close(descriptor)
            return None
        page = cls(descriptor)
        if page._read(0, _MAGIC) != (MAGIC,):
            os.close(descriptor)
            return None
        page._find_slots()
        return page

    @property
    def file(self) -> tuple[int, int]:
        """The identity of its file."""
        found = os.fstat(self.descriptor)
        return found.st_dev, found.st_ino

    def take_slot(self, key: int) -> tuple[int, int] | None:
        """Give a process a slot and its key: those that it claims, or new ones.

        None: no slot is left.
        """
        slot = self._slots.get(key)
        if slot is not None and key in self._missing:
            self._missing.discard(key)
            return slot, key
        taken = set(self._slots.values())
        slot = next((number for number in range(SLOTS) if number not in taken), None)
        if slot is None:
            return None
        key = secrets.randbits(63) + 1
        self._write(_slot_at(slot), _SLOT.pack(key, 0, 0, 0))
        self._slots[key] = slot
        self._count()
        return slot, key

    def free_slot(self, key: int) -> None:
        """Clear the slot of a process that is gone."""
        slot = self._slots.pop(key, None)
        self._missing.discard(key)
        if slot is not None:
            self._write(_slot_at(slot), _SLOT.pack(0, 0, 0, 0))
            self._count()

    def forget_missing(self) -> None:
        """Clear the slots of processes that have not reconnected."""
        self.inherited = None
        for key in list(self._missing):
            self.free_slot(key)

    @property
    def limit(self) -> int | None:
        """The limit of the group; None: there is none."""
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        """Set the limit. Once this returns, no process can exceed it."""
        self._limit = limit
        value = NO_LIMIT if limit is None else limit
        self._write(_LIMIT_AT, _LIMIT.pack(value, value ^ CHECK))

    def name_source(self, source: str | None) -> None:
        """Write the source of the limit, for processes that it refuses memory."""
        self._source = source
        self._write(_SOURCE_AT, _SOURCE.pack(SOURCES[source]))

    def note_driver_memory(self, size: int) -> None:
        """Note the memory that the driver holds for the group beside its allocations."""
        if size != self._driver_memory:
            self._driver_memory = size
            self._write(_HELD_AT, _HELD.pack(size))

    def pooled(self, key: int) -> int:
        """The memory that the pools of a member keep."""
        slot = self._slots.get(key)
        found = None if slot is None else self._read(_slot_at(slot), _SLOT)
        return 0 if found is None else min(found[3], _MOST_BYTES)

    def used(self) -> int:
        """The group's present use. Reading it also repairs values that were overwritten."""
        end = _slot_at(max(self._slots.values(), default=-1) + 1)
        content = os.pread(self.descriptor, end, 0)
        self._mend(content)
        slots = (_SLOT.unpack_from(content, _slot_at(slot)) for slot in self._slots.values())
        own = sum(min(slot[1] + slot[3], _MOST_BYTES) for slot in slots)
        return int(own) + self._driver_memory

    @property
    def is_empty(self) -> bool:
        """Whether no process has a slot."""
        return not self._slots

    def close(self) -> None:
        """Close the page. Its processes go on using it, and the next daemon takes it up."""
        os.close(self.descriptor)

    def _find_slots(self) -> None:
        limit = self._read(_LIMIT_AT, _LIMIT)
        if limit is not None and limit[0] ^ CHECK == limit[1] and limit[0] != NO_LIMIT:
            self._limit = self.inherited = limit[0]
        content = os.pread(self.descriptor, SIZE, 0)
        for slot in range(SLOTS):
            key = _SLOT.unpack_from(content, _slot_at(slot))[0]
            if key and key not in self._slots:
                self._slots[key] = slot
        self._missing = set(self._slots)
        self._count()

    def _mend(self, content: bytes) -> None:
        if self._right is None:
            self._right = self._what_is_right()
        for at, right in self._right:
            if not content.startswith(right, at):
                self._write(at, right)

    def _what_is_right(self) -> list[tuple[int, bytes]]:
        value = NO_LIMIT if self._limit is None else self._limit
        return [
            (0, _MAGIC.pack(MAGIC)),
            (_LIMIT_AT, _LIMIT.pack(value, value ^ CHECK)),
            (_USED_SLOTS_AT, _USED_SLOTS.pack(max(self._slots.values(), default=-1) + 1)),
            (_SOURCE_AT, _SOURCE.pack(SOURCES[self._source])),
            (_HELD_AT, _HELD.pack(self._driver_memory)),
            *((_slot_at(slot), _KEY.pack(key)) for key, slot in self._slots.items()),
        ]

    def _count(self) -> None:
        count = max(self._slots.values(), default=-1) + 1
        self._write(_USED_SLOTS_AT, _USED_SLOTS.pack(count))

    def _read(self, at: int, layout: struct.Struct) -> tuple[int, ...] | None:
        content = os.pread(self.descriptor, layout.size, at)
        return layout.unpack(content) if len(content) == layout.size else None

    def _write(self, at: int, content: bytes) -> None:
        self._right = None
        os.pwrite(self.descriptor, content, at)


def _slot_at(slot: int) -> int:
    return HEADER_SIZE + slot * SLOT_SIZE


def _is_sealed(descriptor: int) -> bool:
    """Whether a file is as make() makes it.

    The seals are read first: a file without seals may be on a file system that blocks any other
    call.
    """
    if not has_sealed_size(descriptor):
        return False
    is_open = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
    return is_open and os.fstat(descriptor).st_size == SIZE
