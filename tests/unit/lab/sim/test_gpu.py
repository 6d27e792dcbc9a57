from collections.abc import Callable
from math import inf

import pytest

from nvshare.lab.emulator.profile import load_known
from nvshare.lab.sim.gpu import BLOCK, Gpu
from nvshare.lab.sim.pool import Lane

GB = 10**9
T4 = load_known("t4")
# Of every chunk of 5 ms that leaves, the last block is mapped for the CPU by itself, in 60 us.
MAPPED = 1.012


class Clock:
    """Runs a GPU, and notes when each piece of work was done."""

    def __init__(self, gpu: Gpu | None = None) -> None:
        self.gpu = gpu or Gpu(T4)
        self.done: dict[str, float] = {}

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.done.__setitem__(name, self.gpu.now)

    def run(self) -> dict[str, float]:
        while (time := self.gpu.next_time()) < inf:
            self.gpu.catch_up(time)
            self.gpu.finish_next()
        return self.done


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    for key in (1, 2, 3):
        clock.gpu.board.join(key)
        clock.gpu.board.resize(key, 12 * GB)
    return clock


def test_one_direction_has_the_whole_bus(clock: Clock) -> None:
    clock.gpu.transfer(Lane.IN, 1, 12 * GB, clock.note("in"))
    assert clock.run() == {"in": pytest.approx(1.0)}


def test_two_in_one_direction_share_it(clock: Clock) -> None:
    clock.gpu.transfer(Lane.IN, 1, 6 * GB, clock.note("half"))
    clock.gpu.transfer(Lane.IN, 2, 12 * GB, clock.note("whole"))
    assert clock.run() == {"half": pytest.approx(1.0), "whole": pytest.approx(1.5)}


def test_memory_cannot_leave_faster_than_it_is_mapped_for_the_cpu() -> None:
    slow = T4.managed.model_copy(update={"host_map_us": 2000.0})
    clock = Clock(Gpu(T4.model_copy(update={"managed": slow})))
    clock.gpu.transfer(Lane.OUT, 1, 100 * BLOCK, clock.note("out"))
    # And the last block of every chunk of 5 ms is mapped when nothing is copied.
    assert clock.run() == {"out": pytest.approx(100 * 0.002 * (1 + 2 / 5))}


def test_both_directions_are_a_little_slower(clock: Clock) -> None:
    clock.gpu.transfer(Lane.IN, 1, round(10.8 * GB), clock.note("in"))
    clock.gpu.transfer(Lane.OUT, 2, round(22.8 * GB / MAPPED), clock.note("out"))
    # Both at 10.8 GB/s for a second, then one at 12 GB/s.
    assert clock.run() == {"in": pytest.approx(1.0), "out": pytest.approx(2.0)}


def test_a_first_touch_is_made_at_its_own_rate(clock: Clock) -> None:
    clock.gpu.fault(1, round(7.7 * GB), clock.note("made"))
    assert clock.run() == {"made": pytest.approx(1.0)}
    assert clock.gpu.board.holdings[1].resident == round(7.7 * GB)
    assert (clock.gpu.moved_in, clock.gpu.moved_out, clock.gpu.move_seconds) == (0, 0, 0.0)


def test_faults_on_a_full_gpu_push_others_out(clock: Clock) -> None:
    board = clock.gpu.board
    board.make(1, 12 * GB)
    board.make(2, 12 * GB)
    assert board.room == 0
    before = clock.gpu.moved_out
    clock.gpu.fault(1, round(0.717 * GB), clock.note("came"))
    assert clock.run() == {"came": pytest.approx(1.0 + 0.717 / 1.34)}
    assert clock.gpu.moved_in == clock.gpu.moved_out - before == round(0.717 * GB)
    assert clock.gpu.move_seconds == pytest.approx(1.0 + 0.717 / 1.34)


def test_a_fault_holds_the_engine_and_kernels_wait(clock: Clock) -> None:
    clock.gpu.fault(1, round(0.77 * GB), clock.note("fault"))
    clock.gpu.compute(2, 0.1, clock.note("kernel"))
    # Each has a tenth of a second to do, and changes between them cost a tenth more.
    assert clock.run() == dict.fromkeys(("fault", "kernel"), pytest.approx(0.2 * 1.107, rel=0.03))


def test_who_fault_at_the_same_time_take_turns(clock: Clock) -> None:
    for key in (1, 2, 3):
        clock.gpu.fault(key, round(0.77 * GB), clock.note(str(key)))
    assert max(clock.run().values()) == pytest.approx(0.3 * 1.107, rel=0.03)


def test_kernels_and_transfers_do_not_hinder_each_other(clock: Clock) -> None:
    clock.gpu.compute(1, 0.5, clock.note("kernel"))
    clock.gpu.transfer(Lane.IN, 1, 12 * GB, clock.note("copy"))
    assert clock.run() == {"kernel": pytest.approx(0.5), "copy": pytest.approx(1.0)}


def test_what_is_cancelled_tells_what_was_left(clock: Clock) -> None:
    clock.gpu.transfer(Lane.OUT, 1, 12 * GB, clock.note("never"))
    clock.gpu.catch_up(0.25 * MAPPED)
    assert clock.gpu.goes_on(Lane.OUT, 1)
    assert clock.gpu.cancel(Lane.OUT, 1) == pytest.approx(9 * GB)
    assert clock.run() == {}


def test_it_pages_when_those_who_may_run_do_not_fit(clock: Clock) -> None:
    clock.gpu.open_bytes = clock.gpu.board.capacity
    assert not clock.gpu.pages
    clock.gpu.open_bytes += 1
    assert clock.gpu.pages
