"""Memory that was given back: free at once, zero after a while, and which requests wait for that.

The rules are the published driver's; lab/emulator/model/scrub.c names them.
"""

import pytest

from .play import BLOCK, MIB, Play, S, on_gpu

USABLE = int(14913.6875 * MIB)
BANDWIDTH = 243  # bytes per ns


def waits(play: Play, size: int) -> int:
    return int(play.ask("scrub", 0, size))


def test_who_needs_what_is_not_zero_yet_waits_for_as_much_as_it_lacks(play: Play) -> None:
    process, size = play.process(), 10_000 * MIB
    assert waits(play, USABLE) == 0
    process.plain(size)
    process.free_plain(size)
    assert play.gpu()["free_bytes"] == USABLE
    assert waits(play, USABLE - size) == 0
    half = USABLE - size // 2
    assert waits(play, half) == pytest.approx(size / 2 / BANDWIDTH, rel=0.01)
    assert waits(play, 10 * USABLE) == pytest.approx(size / BANDWIDTH, rel=0.01)
    play.advance(S)
    assert waits(play, USABLE) == 0


def test_managed_memory_is_evicted_rather_than_waited_for(play: Play) -> None:
    holder, process, size = play.process(), play.process(), 6_000 * MIB
    memory = holder.range(3_000)
    holder.queue().prefetch(memory, to=on_gpu(0))
    play.advance(100 * S)
    process.plain(size)
    process.free_plain(size)
    clean = USABLE - size - (memory.blocks + 64) * BLOCK
    assert waits(play, clean + 1_000 * BLOCK) == 0
    assert process.plain(clean + 1_000 * BLOCK) > 900 * BLOCK
    assert play.gpu()["free_bytes"] >= size  # and what is not zero yet is left alone


def test_the_dead_leave_their_memory_to_the_scrubber(play: Play) -> None:
    process = play.process()
    process.plain(10_000 * MIB)
    process.kill()
    assert play.gpu()["free_bytes"] == USABLE
    assert waits(play, USABLE) == pytest.approx(10_000 * MIB / BANDWIDTH, rel=0.01)
