"""Memory that moves at a change of turn: out, back in, and as reported to the daemon."""

import time

import pytest

from nvshare.wire.frames import Evict, Keep, Memory, Released, Trim, Urgency

from .swapper import BLOCK, MIB, Swapper

pytestmark = pytest.mark.timed

GPU, HOST, NOWHERE = 0, -1, -2


@pytest.mark.parametrize("evicted", [1, 64 * MIB, 65 * MIB])
def test_exactly_what_is_to_leave_leaves_and_comes_back(swapper: Swapper, evicted: int) -> None:
    """Round up to a block."""
    expected = -(-evicted // BLOCK) * BLOCK
    pointers = [swapper.allocate(48) for _ in range(3)]
    swapper.touch(*pointers)
    assert swapper.truth().resident_bytes == 144 * MIB
    swapper.revoke(evicted)
    released = swapper.told(Released)
    assert released.swapped_out in (evicted, expected)
    moved = swapper.moved()
    assert (moved.out_bytes, moved.in_bytes, moved.swapped_out) == (expected, 0, expected)
    account = swapper.truth()
    assert account.resident_bytes == 144 * MIB - expected
    assert account.out_bytes == expected
    swapper.grant()
    moved = swapper.moved()
    assert (moved.in_bytes, moved.swapped_out, moved.turn) == (expected, 0, 2)
    assert swapper.truth().resident_bytes == 144 * MIB
    before = swapper.truth().fault_ns
    swapper.touch(*pointers)
    assert swapper.truth().fault_ns == before


def test_the_gate_opens_when_the_memory_is_there(swapper: Swapper) -> None:
    pointer = swapper.allocate(128)
    swapper.touch(pointer)
    swapper.revoke(128 * MIB)
    swapper.told(Released)
    assert swapper.moved().swapped_out == 128 * MIB
    swapper.guest.ask(f"gpu.start('gpu.touch({pointer})')")
    swapper.grant()
    assert swapper.guest.ask("gpu.done(1, 10)")
    assert swapper.guest.ask("gpu.sync()") == 0
    account = swapper.truth()
    assert (account.in_bytes, account.resident_bytes) == (128 * MIB, 128 * MIB)


def test_an_idle_client_that_gives_way_moves_out_too(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.revoke(32 * MIB, Urgency.WHEN_IDLE)
    assert swapper.told(Released).swapped_out == 32 * MIB
    assert swapper.moved().out_bytes == 32 * MIB


def test_keep_voids_what_was_to_leave(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.revoke(32 * MIB, Urgency.WHEN_IDLE)
    swapper.link.send(Keep(swapper.turn))
    time.sleep(0.1)
    swapper.revoke(0)
    assert swapper.told(Released).swapped_out == 0
    assert swapper.truth().resident_bytes == 64 * MIB


def test_memory_that_nobody_has_used_is_away_and_costs_nothing(swapper: Swapper) -> None:
    """Whenever it was allocated. It is resident when a kernel has used it."""
    first = swapper.allocate(48)
    memory = swapper.told(Memory)
    assert (memory.allocated, memory.swapped_out) == (48 * MIB, 48 * MIB)
    swapper.revoke(1000 * MIB)
    assert swapper.told(Released).swapped_out == 48 * MIB
    second = swapper.allocate(64)
    while (memory := swapper.told(Memory)).allocated < 112 * MIB:
        continue
    assert memory.swapped_out == 112 * MIB
    swapper.grant()
    swapper.touch(second)
    account = swapper.truth()
    assert account.resident_bytes == 64 * MIB
    assert account.in_bytes == account.out_bytes == 0
    swapper.revoke(1000 * MIB)
    assert swapper.told(Released).swapped_out == 112 * MIB
    assert swapper.moved().out_bytes == 64 * MIB
    swapper.grant()
    assert swapper.moved().in_bytes == 64 * MIB
    swapper.touch(first)
    assert swapper.truth().resident_bytes == 112 * MIB


def test_what_has_pages_on_the_host_is_told(swapper: Swapper) -> None:
    """With every report, and until it is freed."""
    first, second = swapper.allocate(64), swapper.allocate(32)
    swapper.touch(first)
    swapper.touch(second)
    for size, kept in ((32, 32), (16, 32), (80, 80), (16, 80)):
        swapper.revoke(size * MIB)
        swapper.told(Released)
        moved = swapper.moved()
        assert (moved.out_bytes, moved.kept) == (size * MIB, kept * MIB)
        swapper.grant()
        assert swapper.moved().kept == kept * MIB
        process = swapper.truth()
        assert process.resident_bytes == 96 * MIB
    assert swapper.guest.ask(f"gpu.free({first})") == 0
    while (memory := swapper.told(Memory)).allocated > 32 * MIB:
        continue
    assert memory.kept == 16 * MIB


USES = {
    "launch": "gpu.touch({0})",
    "launch inside": "gpu.touch({0} + 5000)",
    "upload": "gpu.upload({0}, 4)",
    "download": "gpu.download({0} + 4096, 4)",
    "copy": "gpu.cuda.cuMemcpyDtoDAsync_v2(gpu.word({0}), gpu.word({1}), gpu.word(4), None)",
    "copy from": "gpu.cuda.cuMemcpyDtoDAsync_v2(gpu.word({1}), gpu.word({0}), gpu.word(4), None)",
    "rows": "gpu.copy_rows({1}, {0}, 16)",
    "set": "gpu.cuda.cuMemsetD8_v2(gpu.word({0}), 1, gpu.word(16))",
    "prefetch": "gpu.cuda.cuMemPrefetchAsync(gpu.word({0}), gpu.word(2 << 20), 0, None)",
    "graph": "max(gpu.capture(1)) or gpu.launch_graph()",
}


@pytest.mark.parametrize("use", USES)
def test_whatever_uses_memory_is_seen_at_once(swapper: Swapper, use: str) -> None:
    """Though the thread has launched so much that few of its calls are checked."""
    other = swapper.allocate(2)
    swapper.touch(other)
    assert swapper.guest.ask("gpu.launch(5000)") == 0
    pointer = swapper.allocate(16)
    assert swapper.guest.ask("gpu.launch(100)") == 0
    assert swapper.guest.ask(USES[use].format(pointer, other)) == 0
    swapper.revoke(0)
    assert swapper.told(Released).swapped_out == 0


def test_the_half_that_is_never_used_never_crosses_the_bus(swapper: Swapper) -> None:
    used, unused = swapper.allocate(64), swapper.allocate(64)
    swapper.touch(used)
    for round_ in range(1, 4):
        swapper.revoke(1000 * MIB)
        assert swapper.told(Released).swapped_out == 128 * MIB
        assert swapper.moved().out_bytes == 64 * MIB
        swapper.grant()
        moved = swapper.moved()
        assert (moved.in_bytes, moved.swapped_out) == (64 * MIB, 64 * MIB)
        assert swapper.guest.ask("gpu.launch(2000)") == 0
        gpu = swapper.gpu()
        assert gpu.moved_in_bytes == gpu.moved_out_bytes == round_ * 64 * MIB
        assert swapper.truth().resident_bytes == 64 * MIB
    assert swapper.guest.ask(f"gpu.place({unused})") == NOWHERE


def test_what_is_displaced_is_marked_and_comes_back(swapper: Swapper) -> None:
    """The next program's prefetch would push it out. Here none does; fetching it is harmless."""
    old, new = swapper.allocate(48), swapper.allocate(48)
    swapper.touch(old)
    swapper.touch(new)
    swapper.revoke(64 * MIB, displace=True)
    released = swapper.told(Released)
    assert (released.swapped_out, released.left) == (64 * MIB, 0)
    assert swapper.link.silent()
    assert swapper.truth().out_bytes == 0
    swapper.grant()
    moved = swapper.moved()
    assert (moved.out_bytes, moved.in_bytes, moved.swapped_out) == (0, 64 * MIB, 0)
    assert swapper.truth().resident_bytes == 96 * MIB


def test_evict_is_for_those_without_a_turn(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.link.send(Evict(32 * MIB))
    moved = swapper.moved()
    assert (moved.out_bytes, moved.swapped_out) == (0, 0)
    swapper.revoke(0)
    swapper.told(Released)
    swapper.link.send(Evict(32 * MIB))
    moved = swapper.moved()
    assert (moved.turn, moved.out_bytes, moved.swapped_out) == (1, 32 * MIB, 32 * MIB)
    swapper.link.send(Evict(1000 * MIB))
    assert swapper.moved().swapped_out == 64 * MIB
    swapper.link.send(Evict(1000 * MIB))
    assert swapper.moved().out_bytes == 0
    assert swapper.truth().resident_bytes == 0


def test_a_turn_does_not_end_in_the_middle_of_a_copy(swapper: Swapper) -> None:
    """The driver makes it in pieces. An event between two of them says nothing about the rest."""
    size = 192 * MIB
    pointer = swapper.allocate(size // MIB)
    swapper.guest.ask(f"gpu.start('gpu.upload({pointer}, {size})')")
    swapper.until(lambda account: account.in_bytes > 0)
    swapper.revoke(0)
    swapper.told(Released)
    assert swapper.truth().in_bytes == size
    assert swapper.guest.ask("gpu.done(1, 10)")


def test_trim_moves_memory_of_a_turn_that_goes_on(swapper: Swapper) -> None:
    pointers = [swapper.allocate(48) for _ in range(3)]
    swapper.touch(*pointers)
    swapper.link.send(Trim(64 * MIB))
    moved = swapper.moved()
    assert (moved.turn, moved.out_bytes, moved.swapped_out) == (1, 64 * MIB, 64 * MIB)
    assert swapper.truth().resident_bytes == 80 * MIB
    # Nothing has stopped it. The memory it uses comes back, and counts as resident once noticed.
    swapper.guest.ask(f"gpu.start('[gpu.touch({pointers[0]}) for _ in range(5000)]')")
    assert swapper.away() == 16 * MIB
    assert swapper.guest.ask("gpu.done(1, 10)")
    assert swapper.truth().resident_bytes == 128 * MIB
    swapper.revoke(0)
    assert swapper.told(Released).swapped_out == 0


def test_trim_waits_for_what_a_turn_begins_with(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(128))
    swapper.swap_out(128)
    swapper.grant()
    swapper.link.send(Trim(32 * MIB))
    moved = swapper.moved()
    assert (moved.in_bytes, moved.swapped_out) == (128 * MIB, 0)
    moved = swapper.moved()
    assert (moved.out_bytes, moved.swapped_out) == (32 * MIB, 32 * MIB)


def test_trim_is_for_those_with_a_turn_and_with_memory(swapper: Swapper) -> None:
    swapper.link.send(Trim(32 * MIB))
    assert swapper.moved().out_bytes == 0
    swapper.touch(swapper.allocate(64))
    swapper.revoke(0)
    swapper.told(Released)
    swapper.link.send(Trim(32 * MIB))
    swapper.link.send(Evict(16 * MIB))
    assert swapper.moved().out_bytes == 16 * MIB


@pytest.mark.parametrize("known", [True, False])
def test_what_was_not_used_for_long_leaves_first_and_returns_last(
    swapper: Swapper, *, known: bool
) -> None:
    """A graph may use anything. Then all count as used, and the oldest leaves first."""
    hot, cold, warm = (swapper.allocate(48) for _ in range(3))
    swapper.touch(hot, cold, warm)
    if not known:
        assert swapper.guest.ask("gpu.capture(1)") == [0, 0, 0, 0]
    deadline = time.monotonic() + 1.3
    while time.monotonic() < deadline:
        swapper.touch(*[hot, warm] * 500)
        if not known:
            assert swapper.guest.ask("[gpu.launch_graph() for _ in range(500)][-1]") == 0
    swapper.swap_out(48)
    places = [swapper.guest.ask(f"gpu.place({p})") for p in (hot, cold, warm)]
    assert places == ([NOWHERE, HOST, NOWHERE] if known else [HOST, NOWHERE, NOWHERE])
    swapper.link.send(Evict(96 * MIB))
    assert swapper.moved().swapped_out == 144 * MIB
    swapper.grant(fill_bytes=48 * MIB)
    assert swapper.moved().in_bytes == 48 * MIB
    places = [swapper.guest.ask(f"gpu.place({p})") for p in (hot, cold, warm)]
    assert places == [HOST, HOST, GPU]
