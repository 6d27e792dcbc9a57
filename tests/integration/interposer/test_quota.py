"""The quota page of a group: when the library takes it, how it uses it, and invalid pages."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.daemon.groups.quota_page import Page
from nvshare.wire.frames import Hello, LimitFlags, Limits, Quota

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted

MIB = 1 << 20
OUT_OF_MEMORY = 2


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page.make()
    page.limit = 32 * MIB
    yield page
    page.close()


def give_slot(link: Link, page: Page) -> int:
    """Do the daemon's steps before WELCOME."""
    place = page.take_slot(0)
    assert place is not None
    link.send(Quota(*place), page.descriptor)
    return place[1]


def test_the_first_allocation_waits_for_a_limit_that_only_the_daemon_knows(
    scripted: Scripted, guest: Guest, page: Page
) -> None:
    guest.put("gpu.init() or gpu.alloc(33 << 20)[0]")
    link = scripted.accept()
    give_slot(link, page)
    link.welcome()
    assert guest.answer() == OUT_OF_MEMORY
    assert guest.ask("gpu.info()") == [32 * MIB, 32 * MIB]
    assert guest.ask("gpu.alloc(32 << 20)")[0] == 0
    assert page.used() == 32 * MIB


@pytest.mark.parametrize(
    ("source", "limit", "environ", "who"),
    [
        ("environment", 32, {"NVSHARE_GPU_MEMORY_LIMIT": "32Mi"}, "NVSHARE_GPU_MEMORY_LIMIT in"),
        (
            "environment",
            32,
            {"NVSHARE_GPU_MEMORY_LIMIT": "32Mi", "NVSHARE_RUN_MEMORY_LIMIT": "32Mi"},
            "`nvshare run --memory`",
        ),
        # The limit that run has set was changed since.
        (
            "environment",
            32,
            {"NVSHARE_GPU_MEMORY_LIMIT": "32Mi", "NVSHARE_RUN_MEMORY_LIMIT": "64Mi"},
            "NVSHARE_GPU_MEMORY_LIMIT in",
        ),
        (
            "environment",
            16,
            {"NVSHARE_GPU_MEMORY_LIMIT": "32Mi"},
            "the environment of another process of its group",
        ),
        ("set", 32, {"NVSHARE_GPU_MEMORY_LIMIT": "32Mi"}, "`nvshare limit`"),
        ("pod", 32, {}, "the annotation of its pod"),
    ],
)
def test_a_refusal_is_said_once_with_the_limit_and_who_has_set_it(
    scripted: Scripted,
    start_guest: StartGuest,
    page: Page,
    source: str,
    limit: int,
    environ: dict[str, str],
    who: str,
) -> None:
    page.limit = limit * MIB
    page.name_source(source)
    guest = start_guest(**environ)
    guest.put("gpu.init() or gpu.alloc(1 << 20)[0]")
    link = scripted.accept()
    give_slot(link, page)
    link.welcome()
    assert guest.answer() == 0
    for _ in range(3):
        assert guest.ask("gpu.alloc(33 << 20)")[0] == OUT_OF_MEMORY
    (line,) = guest.end().splitlines()
    assert (
        f"warning: GPU 0: 33.0 MiB refused: this program may use {limit}.0 MiB, and "
        f"{limit - 1}.0 MiB of that are left. The limit is set by {who}" in line
    )


def test_without_a_daemon_the_limit_is_that_of_the_environment(
    absent: Scripted, start_guest: StartGuest
) -> None:
    del absent
    guest = start_guest(NVSHARE_GPU_MEMORY_LIMIT="32Mi")
    assert guest.ask("gpu.init() or gpu.alloc(33 << 20)[0]") == OUT_OF_MEMORY
    assert "is set by NVSHARE_GPU_MEMORY_LIMIT in its environment" in guest.end()


def test_a_program_without_standard_error_is_refused_all_the_same(
    scripted: Scripted, start_guest: StartGuest, page: Page
) -> None:
    guest = start_guest()
    guest.put("__import__('os').close(2) or gpu.init() or gpu.alloc(33 << 20)[0]")
    link = scripted.accept()
    give_slot(link, page)
    link.welcome()
    assert guest.answer() == OUT_OF_MEMORY
    assert guest.end() == ""


def test_what_is_shown_is_what_the_group_has_left(
    scripted: Scripted, guest: Guest, page: Page
) -> None:
    guest.put("gpu.init() or gpu.alloc(8 << 20)[1]")
    link = scripted.accept()
    give_slot(link, page)
    link.welcome()
    pointer = guest.answer()
    other = page.take_slot(0)
    assert other is not None
    os.pwrite(page.descriptor, (20 * MIB).to_bytes(8, "little"), 192 + 32 * other[0] + 8)
    assert guest.ask("gpu.info()") == [4 * MIB, 32 * MIB]
    assert guest.ask("gpu.nvml()") == [28 * MIB, 32 * MIB]
    assert guest.ask("gpu.alloc((4 << 20) + 1)")[0] == OUT_OF_MEMORY
    page.limit = 20 * MIB
    assert guest.ask("gpu.info()") == [0, 20 * MIB]
    page.limit = 64 * MIB
    assert guest.ask("gpu.info()") == [36 * MIB, 64 * MIB]
    assert guest.ask(f"gpu.free({pointer})") == 0
    page.free_slot(other[1])
    assert guest.ask("gpu.info()") == [64 * MIB, 64 * MIB]
    page.limit = None
    free, total = guest.ask("gpu.info()")
    assert free == total > 64 * MIB


def test_the_next_daemon_hears_of_the_slot_and_may_give_another(
    scripted: Scripted, guest: Guest, page: Page
) -> None:
    guest.put("gpu.init() or gpu.alloc(8 << 20)[0]")
    link = scripted.accept()
    number = give_slot(link, page)
    assert link.welcome().slot_key == 0
    assert guest.answer() == 0
    link.close()
    again = scripted.accept()
    hello: Hello = again.next(Hello)
    assert (hello.slot_key, hello.allocated) == (number, 8 * MIB)
    # Until it has another slot, it keeps to the page that it has.
    assert guest.ask("gpu.info()") == [24 * MIB, 32 * MIB]
    fresh = Page.make()
    fresh.limit = 16 * MIB
    give_slot(again, fresh)
    while guest.ask("gpu.info()") != [8 * MIB, 16 * MIB]:
        pass
    assert (page.used(), fresh.used()) == (0, 8 * MIB)
    fresh.close()


def test_a_child_has_no_slot_of_its_parent(scripted: Scripted, guest: Guest, page: Page) -> None:
    guest.put("gpu.init() or gpu.alloc(8 << 20)[0]")
    link = scripted.accept()
    give_slot(link, page)
    link.welcome()
    assert guest.answer() == 0
    # CUDA does not work there; the attempt changes nothing for the parent.
    assert guest.ask("gpu.fork('gpu.alloc(1 << 20)[0] or gpu.info()')") != "0"
    assert page.used() == 8 * MIB
    assert guest.ask("gpu.alloc(24 << 20)")[0] == 0
    assert page.used() == 32 * MIB


@pytest.mark.parametrize("content", [b"", bytes(1 << 16)])
def test_a_page_that_is_none_is_said_to_be_and_the_limit_is_kept_alone(
    scripted: Scripted, guest: Guest, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "bad").write_bytes(content)
    guest.put("gpu.init() or gpu.alloc(8 << 20)[0]")
    link = scripted.accept()
    with (tmp_path / "bad").open("r+b") as bad:
        link.send(Quota(0, 5), bad.fileno())
        link.send(
            Limits(4 * MIB, LimitFlags(0), share_ppm=0, window_us=0, own_ppm=1_000_000, clock=1000)
        )
        link.welcome()
    assert guest.answer() == OUT_OF_MEMORY
    assert guest.ask("gpu.alloc(4 << 20)")[0] == 0
    link.close()
    assert "process applies the memory limit to its own memory only" in guest.end()
