"""The quota page of a group: slots are given, taken back, and found again by the next daemon."""

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.daemon.groups.quota_page import (
    CHECK,
    HEADER_SIZE,
    NO_LIMIT,
    SIZE,
    SLOT_SIZE,
    SLOTS,
    SOURCES,
    Page,
)


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page.make()
    yield page
    page.close()


def words(page: Page, at: int, count: int) -> tuple[int, ...]:
    """Words of the file, as a member of the group sees them."""
    return struct.unpack(f"<{count}Q", os.pread(page.descriptor, 8 * count, at))


def used_slots(page: Page) -> int:
    return int.from_bytes(os.pread(page.descriptor, 4, 24), "little")


def use(page: Page, slot: int, used: int) -> None:
    """Set the used bytes of a slot, as a member does."""
    os.pwrite(page.descriptor, struct.pack("<Q", used), HEADER_SIZE + slot * SLOT_SIZE + 8)


def next_daemon(page: Page) -> Page:
    """Take up a page again, as a member hands it over."""
    again = Page.take_up(os.dup(page.descriptor))
    assert again is not None
    return again


def test_a_new_page_limits_nobody_and_nobody_can_change_its_size(page: Page) -> None:
    assert page.limit is None
    assert words(page, 8, 2) == (NO_LIMIT, NO_LIMIT ^ CHECK)
    assert page.is_empty
    assert os.fstat(page.descriptor).st_mode & 0o777 == 0o600
    assert os.fstat(page.descriptor).st_blocks * 512 >= SIZE
    for size in (0, SIZE - 1, SIZE + 1, 1 << 31):
        with pytest.raises(PermissionError):
            os.ftruncate(page.descriptor, size)
    with pytest.raises(PermissionError):
        fcntl.fcntl(page.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    with pytest.raises(OSError, match="not permitted"):
        os.pwrite(page.descriptor, b"more", SIZE)
    assert os.fstat(page.descriptor).st_size == SIZE


def test_a_limit_stands_in_the_file_at_once(page: Page) -> None:
    page.limit = 1 << 30
    assert words(page, 8, 2) == (1 << 30, (1 << 30) ^ CHECK)
    page.limit = None
    assert words(page, 8, 2) == (NO_LIMIT, NO_LIMIT ^ CHECK)


@pytest.mark.parametrize("source", SOURCES)
def test_who_has_set_the_limit_stands_beside_it(page: Page, source: str | None) -> None:
    page.name_source(source)
    assert words(page, 32, 1) == (SOURCES[source],)
    # Nothing else has changed.
    assert words(page, 8, 3) == (NO_LIMIT, NO_LIMIT ^ CHECK, 0)


def test_the_lowest_free_slot_is_given(page: Page) -> None:
    places = [page.take_slot(0) for _ in range(3)]
    assert [place[0] for place in places if place] == [0, 1, 2]
    assert len({place[1] for place in places if place}) == 3
    assert used_slots(page) == 3
    for slot in (0, 1, 2):
        use(page, slot, 100 + slot)
    assert page.used() == 303
    assert places[1] is not None
    page.free_slot(places[1][1])
    assert page.used() == 202
    again = page.take_slot(0)
    assert again is not None
    assert again[0] == 1
    # It has nothing of its predecessor.
    assert words(page, HEADER_SIZE + SLOT_SIZE, 3) == (again[1], 0, 0)
    assert places[2] is not None
    page.free_slot(places[2][1])
    assert used_slots(page) == 2


def test_there_are_only_so_many_slots(page: Page) -> None:
    places = [page.take_slot(0) for _ in range(SLOTS)]
    assert None not in places
    assert page.take_slot(0) is None


def test_the_next_daemon_finds_everything(page: Page) -> None:
    page.limit = 500
    first, second, third = page.take_slot(0), page.take_slot(0), page.take_slot(0)
    assert first is not None
    assert second is not None
    assert third is not None
    use(page, 1, 70)
    use(page, 2, 30)
    page.free_slot(first[1])

    again = next_daemon(page)
    assert again.limit == again.inherited == 500
    assert again.used() == 100
    assert again.take_slot(second[1]) == second
    # The slot of a process that may still come back is not given away, not even under its name.
    other = again.take_slot(second[1])
    assert other is not None
    assert other != second
    assert other[0] == 0
    again.forget_missing()
    assert again.used() == 70
    late = again.take_slot(third[1])
    assert late is not None
    assert late[1] != third[1]
    again.close()


def sealed(content: bytes, seals: int) -> int:
    descriptor = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.pwrite(descriptor, content, 0)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def test_what_is_no_page_is_not_believed(page: Page, tmp_path: Path) -> None:
    content = os.pread(page.descriptor, SIZE, 0)
    seals = fcntl.fcntl(page.descriptor, fcntl.F_GET_SEALS)
    (tmp_path / "file").write_bytes(content)
    wrong = [
        os.open(tmp_path / "file", os.O_RDWR),
        os.open(f"/proc/self/fd/{page.descriptor}", os.O_RDONLY),
        os.pipe()[0],
        sealed(content, seals & ~fcntl.F_SEAL_SHRINK),
        sealed(content, seals & ~fcntl.F_SEAL_GROW),
        sealed(content, seals & ~fcntl.F_SEAL_SEAL),
        sealed(content, seals | fcntl.F_SEAL_WRITE),
        sealed(content[:-1], seals),
        sealed(content + b"0", seals),
        sealed(bytes(SIZE), seals),
        sealed(b"\xff" * SIZE, seals),
    ]
    for descriptor in wrong:
        assert Page.take_up(descriptor) is None
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(descriptor)


def test_nonsense_from_a_member_is_bounded_and_mended(page: Page) -> None:
    page.limit = 500
    page.name_source("set")
    place = page.take_slot(0)
    use(page, 0, 2**64 - 1)
    assert page.used() == 1 << 52
    right = os.pread(page.descriptor, HEADER_SIZE + 8, 0)
    os.pwrite(page.descriptor, b"\xff" * SIZE, 0)
    assert page.used() == 1 << 52
    # All that the daemon knows. The lock and the used bytes are the members' own.
    mended = os.pread(page.descriptor, HEADER_SIZE + 8, 0)
    assert place is not None
    assert (mended[:28], mended[32:40]) == (right[:28], right[32:40])
    assert int.from_bytes(mended[HEADER_SIZE:], "little") == place[1]
    again = page.take_slot(0)
    assert again is not None
    assert again[0] == 1


def test_what_pools_keep_and_drivers_hold_is_used(page: Page) -> None:
    place = page.take_slot(0)
    assert place is not None
    use(page, 0, 100)
    os.pwrite(page.descriptor, struct.pack("<Q", 20), HEADER_SIZE + 24)
    assert (page.used(), page.pooled(place[1]), page.pooled(5)) == (120, 20, 0)
    page.note_driver_memory(7)
    assert words(page, 40, 1) == (7,)
    assert page.used() == 127
    # Members cannot change the daemon's own findings.
    os.pwrite(page.descriptor, struct.pack("<Q", 9), 40)
    assert page.used() == 127
    assert words(page, 40, 1) == (7,)
