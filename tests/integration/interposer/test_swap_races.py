"""Events while memory moves: new orders, and calls of the program.

The GPU has 2 GiB behind a slow bus, so that a move takes long enough for something to happen
meanwhile: the first chunk 8 ms, half of the memory a quarter of a second.
"""

import re
import time
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.report import Account
from nvshare.wire.frames import Evict, Keep, Moved, Released, ReleaseReason, Urgency

from .conftest import StartGuest
from .scripted import Scripted
from .swapper import BLOCK, MIB, Swapper

pytestmark = pytest.mark.timed

CHUNK = 32 * MIB
CHANGES = {
    "total_mib": 2056,
    "usable_mib": 2048,
    "host_to_device_gb_per_s": 4,
    "device_to_host_gb_per_s": 4,
    "populate_gb_per_s": 1000,
}


@pytest.fixture
def gpus(tmp_path: Path) -> str:
    text = (files("nvshare") / "lab" / "emulator" / "profiles" / "tiny.toml").read_text(
        encoding="utf-8"
    )
    for field, value in CHANGES.items():
        text = re.sub(f"(?m)^{field} = [0-9.]+", f"{field} = {value}", text)
    (tmp_path / "slow.toml").write_text(text, encoding="utf-8")
    return str(tmp_path / "slow.toml")


@pytest.fixture
def node_settings() -> Settings:
    return Settings(data="off")


def agree(swapper: Swapper) -> None:
    """Wait until the guest's count of memory away is right: chunks may be in flight."""
    deadline = time.monotonic() + 2
    while True:
        swapper.link.send(Evict(0))
        moved = swapper.moved()
        truth = swapper.truth()
        if moved.swapped_out == moved.allocated - truth.resident_bytes:
            return
        assert time.monotonic() < deadline, (moved, truth)
        time.sleep(0.02)


def loaded(swapper: Swapper, *sizes: int) -> list[int]:
    """Allocate memory, and use it."""
    pointers = [swapper.allocate(mib) for mib in sizes]
    swapper.touch(*pointers)
    return pointers


def begin_to_leave(swapper: Swapper, mib: int) -> None:
    """Revoke the turn, and wait until memory is on its way."""
    swapper.revoke(mib * MIB)
    assert swapper.told(Released).swapped_out == mib * MIB
    swapper.until(lambda account: account.out_bytes > CHUNK)


def begin_to_return(swapper: Swapper, mib: int) -> None:
    """The same in the other direction."""
    swapper.swap_out(mib)
    swapper.grant()
    swapper.until(lambda account: account.in_bytes > CHUNK)


BEGIN = {"leaving": begin_to_leave, "returning": begin_to_return}
both_ways = pytest.mark.parametrize("way", BEGIN)


def finish(swapper: Swapper, way: str) -> Moved:
    moved = swapper.moved()
    assert bool(moved.out_bytes) == (way == "leaving")
    assert bool(moved.in_bytes) == (way == "returning")
    return moved


def test_a_grant_stops_what_leaves_and_brings_it_back(swapper: Swapper) -> None:
    loaded(swapper, 1280)
    begin_to_leave(swapper, 1280)
    swapper.grant()
    out, into = swapper.moved(), swapper.moved()
    assert (out.turn, into.turn) == (1, 2)
    assert 0 < out.out_bytes == into.in_bytes < 1280 * MIB
    assert out.swapped_out == into.swapped_out == 0
    assert swapper.truth().resident_bytes == 1280 * MIB
    assert swapper.guest.ask("gpu.launch()") == 0


@both_ways
def test_a_turn_that_ends_while_memory_returns(swapper: Swapper, way: str) -> None:
    """At once, with the exact memory that has come by then; memory that has to leave leaves."""
    loaded(swapper, 1280)
    begin_to_return(swapper, 1280)
    evicted = 256 * MIB if way == "leaving" else 0
    swapper.until(lambda account: account.in_bytes > evicted)
    began = time.monotonic()
    swapper.revoke(evicted)
    released, came = swapper.released()
    assert time.monotonic() - began < 0.1
    assert released.reason is ReleaseReason.TOLD
    assert 0 < released.swapped_out < 1280 * MIB + evicted
    # Memory in flight at the end of the turn is reported later.
    assert 0 <= came < 1280 * MIB
    if evicted:
        assert swapper.moved().out_bytes == evicted
    agree(swapper)


def test_a_client_that_waits_for_its_memory_is_not_idle(swapper: Swapper) -> None:
    loaded(swapper, 768)
    begin_to_return(swapper, 768)
    swapper.revoke(0, Urgency.WHEN_IDLE)
    assert isinstance(swapper.link.next(Moved | Released), Moved)
    assert swapper.told(Released).reason is ReleaseReason.IDLE


def test_keep_does_not_open_the_gate_before_the_memory_is_there(swapper: Swapper) -> None:
    loaded(swapper, 768)
    begin_to_return(swapper, 768)
    swapper.revoke(0, Urgency.WHEN_IDLE)
    swapper.link.send(Keep(swapper.turn))
    assert swapper.guest.ask("gpu.launch()") == 0
    assert swapper.truth().resident_bytes == 768 * MIB
    assert swapper.moved().swapped_out == 0


def test_evict_adds_to_what_leaves(swapper: Swapper) -> None:
    loaded(swapper, 1280)
    begin_to_leave(swapper, 512)
    swapper.link.send(Evict(256 * MIB))
    assert swapper.moved().out_bytes == 768 * MIB
    agree(swapper)


def test_what_leaves_is_told_on_its_way(swapper: Swapper) -> None:
    loaded(swapper, 1280)
    swapper.revoke(1280 * MIB)
    released = swapper.told(Released)
    assert released.left == released.swapped_out == 1280 * MIB
    told = [swapper.told(Moved)]
    while told[-1].left:
        told.append(swapper.told(Moved))
    assert len(told) > 3
    assert [moved.left for moved in told] == sorted((moved.left for moved in told), reverse=True)
    assert sum(moved.out_bytes for moved in told) == 1280 * MIB
    assert {(moved.turn, moved.swapped_out) for moved in told} == {(1, 1280 * MIB)}


@both_ways
def test_memory_is_freed_while_it_moves(swapper: Swapper, way: str) -> None:
    pointers = loaded(swapper, 512, 256, 512)
    BEGIN[way](swapper, 1280)
    for pointer in pointers[::2]:
        assert swapper.guest.ask(f"gpu.free({pointer})") == 0
    finish(swapper, way)
    agree(swapper)
    assert swapper.guest.ask(f"gpu.free({pointers[1]})") == 0
    agree(swapper)


@both_ways
def test_memory_is_allocated_while_others_move(swapper: Swapper, way: str) -> None:
    loaded(swapper, 768)
    BEGIN[way](swapper, 768)
    swapper.allocate(512)
    assert finish(swapper, way).allocated == 1280 * MIB
    agree(swapper)
    # It has not been used yet.
    assert swapper.truth().resident_bytes == (768 * MIB if way == "returning" else 0)


@both_ways
def test_contexts_are_destroyed_while_their_memory_moves(swapper: Swapper, way: str) -> None:
    """The context of the moves is unknown, so all go."""
    assert swapper.guest.ask("gpu.create()") == 0
    pointer = swapper.allocate(256)
    assert swapper.guest.ask("gpu.use(gpu.contexts[0])") == 0
    loaded(swapper, 256)
    assert swapper.guest.ask("gpu.create()") == 0
    swapper.touch(swapper.allocate(256), pointer)
    BEGIN[way](swapper, 768)
    assert swapper.guest.ask("gpu.destroy()") == 0
    assert swapper.guest.ask("gpu.destroy()") == 0
    moved = finish(swapper, way)
    assert moved.allocated <= 768 * MIB
    agree(swapper)
    assert swapper.guest.ask("gpu.cuda.cuDevicePrimaryCtxReset_v2(0)") == 0
    agree(swapper)


@both_ways
def test_the_primary_context_is_reset_while_memory_moves(swapper: Swapper, way: str) -> None:
    loaded(swapper, 1024)
    BEGIN[way](swapper, 1024)
    assert swapper.guest.ask("gpu.cuda.cuDevicePrimaryCtxReset_v2(0)") == 0
    assert finish(swapper, way).allocated == 0
    agree(swapper)


@both_ways
def test_the_program_ends_while_memory_moves(swapper: Swapper, way: str) -> None:
    loaded(swapper, 1280)
    BEGIN[way](swapper, 1280)
    began = time.monotonic()
    assert swapper.guest.end() == ""
    assert time.monotonic() - began < 3


@both_ways
def test_a_child_of_fork_moves_nothing(swapper: Swapper, way: str) -> None:
    loaded(swapper, 768)
    BEGIN[way](swapper, 768)
    assert swapper.guest.ask("gpu.fork('os.getpid() > 1')") == "true"
    finish(swapper, way)
    agree(swapper)


def until_resident(swapper: Swapper, mib: int) -> Account:
    return swapper.until(lambda account: account.resident_bytes >= mib * MIB)


def test_a_fill_takes_room_as_it_is_told_of_it(swapper: Swapper) -> None:
    """Free memory does not matter: there is room for all, but the daemon has not said so."""
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    swapper.guest.ask("gpu.start('gpu.launch()')")
    swapper.grant(missing=1024 * MIB)
    for there in (0, 200, 333, 900):
        swapper.room((1024 - there) * MIB)
        until_resident(swapper, there - there % 2)
        assert not swapper.guest.ask("gpu.done(1, 0.1)")
        assert swapper.gpu().moved_in_bytes == (there - there % 2) * MIB
    swapper.room(0)
    moved = swapper.moved()
    assert (moved.in_bytes, moved.swapped_out) == (1024 * MIB, 0)
    assert swapper.guest.ask("gpu.done(1, 10)")
    account = swapper.truth()
    assert account.resident_bytes == 1024 * MIB
    # Nothing moved back and forth.
    assert account.in_bytes == account.out_bytes == 1024 * MIB


def test_a_fill_of_a_part_waits_for_room_for_that(swapper: Swapper) -> None:
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    swapper.grant(fill_bytes=512 * MIB, missing=256 * MIB)
    until_resident(swapper, 256)
    time.sleep(0.1)
    assert swapper.truth().resident_bytes == 256 * MIB
    swapper.room(0)
    moved = swapper.moved()
    assert (moved.in_bytes, moved.swapped_out) == (512 * MIB, 512 * MIB)


def test_nobody_waits_for_free_memory(swapper: Swapper, start_guest: StartGuest) -> None:
    """The GPU is full and stays so. It is enough that nothing is missing."""
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    assert other.ask(f"gpu.alloc({1500 * MIB})")[0] == 0
    swapper.grant()
    moved = swapper.moved()
    assert (moved.in_bytes, moved.swapped_out) == (1024 * MIB, 0)
    assert swapper.guest.ask("gpu.launch()") == 0
    assert swapper.guest.end() == ""


def test_a_fill_on_a_full_gpu_begins_at_once(swapper: Swapper, start_guest: StartGuest) -> None:
    """Memory never becomes free there, so the fill must not wait for that."""
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    assert other.ask(f"gpu.alloc({1500 * MIB})")[0] == 0
    before, began = swapper.truth().in_bytes, time.monotonic()
    swapper.grant()
    swapper.until(lambda account: account.in_bytes > before)
    assert time.monotonic() - began < 0.5


def test_a_revoked_turn_does_not_wait_for_room(swapper: Swapper) -> None:
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    swapper.grant(missing=768 * MIB)
    until_resident(swapper, 256)
    swapper.revoke(0)
    released, came = swapper.released()
    assert released.swapped_out == 768 * MIB
    assert came <= 256 * MIB
    agree(swapper)


def test_what_leaves_is_told_as_it_goes(swapper: Swapper) -> None:
    loaded(swapper, 1280)
    swapper.revoke(1280 * MIB)
    released = swapper.told(Released)
    assert (released.swapped_out, released.left) == (1280 * MIB, 1280 * MIB)
    left, out = released.left, 0
    frames = 0
    while left:
        moved = swapper.told(Moved)
        out += moved.out_bytes
        assert moved.left == 1280 * MIB - out
        assert moved.swapped_out == 1280 * MIB
        left, frames = moved.left, frames + 1
    assert 3 <= frames <= 41
    assert swapper.truth().out_bytes == 1280 * MIB


def test_what_was_left_is_not_pushed_out_by_what_returns(
    swapper: Swapper, start_guest: StartGuest
) -> None:
    """Another program has come since, and is younger by the driver's count."""
    kept, gone = loaded(swapper, 700, 700)
    swapper.swap_out(700)
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    pointer = other.ask(f"gpu.alloc_managed({1200 * MIB})")[1]
    assert other.ask(f"gpu.touch({pointer})") == 0
    assert other.ask("gpu.sync()") == 0
    before = swapper.truth()
    swapper.grant()
    assert swapper.moved().in_bytes == 700 * MIB
    assert swapper.truth().resident_bytes == 1400 * MIB, before
    fault_ns = swapper.truth().fault_ns
    swapper.touch(kept, gone)
    assert swapper.truth().fault_ns == fault_ns


@pytest.mark.parametrize("occupied", [600, 1500])
def test_without_a_daemon_only_what_is_free_comes_back(
    swapper: Swapper, scripted: Scripted, start_guest: StartGuest, occupied: int
) -> None:
    loaded(swapper, 1024)
    swapper.swap_out(1024)
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    assert other.ask(f"gpu.alloc({occupied * MIB})")[0] == 0
    free = swapper.gpu().free_bytes
    expected = min(free - free % BLOCK, 1024 * MIB)
    scripted.die()
    swapper.until(lambda account: account.in_bytes >= expected)
    assert swapper.guest.ask("gpu.launch()") == 0
    assert swapper.truth().in_bytes == expected
    assert "unmanaged until the daemon is back" in swapper.guest.end()
