"""The page of a group: seats that are given, taken back, and found again by the next daemon."""

import os
import struct
from pathlib import Path

import pytest

from nvshare.daemon.quota import CHECK, HEADER_SIZE, NO_LIMIT, SIZE, SLOT_SIZE, SLOTS, SOURCES, Page


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "page"


def words(path: Path, at: int, count: int) -> tuple[int, ...]:
    """What stands in the file, as a member of the group sees it."""
    return struct.unpack_from(f"<{count}Q", path.read_bytes(), at)


def seats(path: Path) -> int:
    return int(struct.unpack_from("<I", path.read_bytes(), 24)[0])


def use(page: Path, slot: int, used: int) -> None:
    """Do what a member does."""
    with page.open("r+b") as file:
        file.seek(HEADER_SIZE + slot * SLOT_SIZE + 8)
        file.write(struct.pack("<Q", used))


def test_a_new_page_limits_nobody_and_only_its_owner_can_open_it(path: Path) -> None:
    page = Page(path)
    assert page.limit is None
    assert words(path, 8, 2) == (NO_LIMIT, NO_LIMIT ^ CHECK)
    assert path.stat().st_size == SIZE
    assert path.stat().st_mode & 0o777 == 0o600
    assert page.is_empty
    page.remove()
    assert not path.exists()


def test_a_limit_stands_in_the_file_at_once(path: Path) -> None:
    page = Page(path)
    page.limit = 1 << 30
    assert words(path, 8, 2) == (1 << 30, (1 << 30) ^ CHECK)
    page.limit = None
    assert words(path, 8, 2) == (NO_LIMIT, NO_LIMIT ^ CHECK)
    page.close()


@pytest.mark.parametrize("source", SOURCES)
def test_who_has_set_the_limit_stands_beside_it(path: Path, source: str | None) -> None:
    page = Page(path)
    page.name_source(source)
    assert words(path, 32, 1) == (SOURCES[source],)
    # Nothing else has changed.
    assert words(path, 8, 3) == (NO_LIMIT, NO_LIMIT ^ CHECK, 0)
    page.close()


def test_the_lowest_free_slot_is_given(path: Path) -> None:
    page = Page(path)
    places = [page.sit(0) for _ in range(3)]
    assert [place[0] for place in places if place] == [0, 1, 2]
    assert len({place[1] for place in places if place}) == 3
    assert seats(path) == 3
    for slot in (0, 1, 2):
        use(path, slot, 100 + slot)
    assert page.used() == 303
    assert places[1] is not None
    page.leave(places[1][1])
    assert page.used() == 202
    again = page.sit(0)
    assert again is not None
    assert again[0] == 1
    # It has nothing of the one before.
    assert words(path, HEADER_SIZE + SLOT_SIZE, 3) == (again[1], 0, 0)
    assert places[2] is not None
    page.leave(places[2][1])
    assert seats(path) == 2
    page.close()


def test_there_are_only_so_many_slots(path: Path) -> None:
    page = Page(path)
    places = [page.sit(0) for _ in range(SLOTS)]
    assert None not in places
    assert page.sit(0) is None
    page.close()


def test_the_next_daemon_finds_everything(path: Path) -> None:
    page = Page(path)
    page.limit = 500
    first, second, third = page.sit(0), page.sit(0), page.sit(0)
    assert first is not None
    assert second is not None
    assert third is not None
    use(path, 1, 70)
    use(path, 2, 30)
    page.leave(first[1])
    page.close()

    again = Page(path)
    assert again.limit == 500
    assert again.used() == 100
    assert again.sit(second[1]) == second
    # Nobody gets the place of one who may still come back, not even under its name.
    other = again.sit(second[1])
    assert other is not None
    assert other != second
    assert other[0] == 0
    again.forget_missing()
    assert again.used() == 70
    late = again.sit(third[1])
    assert late is not None
    assert late[1] != third[1]
    again.close()


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * SIZE, b"\xff" * SIZE * 2])
def test_a_file_that_is_no_page_becomes_one(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    page = Page(path)
    assert (page.limit, page.used(), page.is_empty) == (None, 0, True)
    assert path.stat().st_size == SIZE
    page.close()


def test_nonsense_from_a_member_is_bounded(path: Path) -> None:
    page = Page(path)
    page.sit(0)
    use(path, 0, 2**64 - 1)
    assert page.used() == 1 << 52
    os.truncate(path, 10)
    assert page.used() == 0
    page.limit = 5
    assert page.sit(0) is not None
    page.close()
