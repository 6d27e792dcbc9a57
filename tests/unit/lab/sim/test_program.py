"""One program, or several without scheduling: their waits on the GPU itself."""

import pytest

from nvshare.core.events import Event, MemoryChanged
from nvshare.core.memory import Memory
from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.scenario import Scenario

from .making import GB, MIB, PAUSE, durations, program, run

# A context is made, memory is allocated, and work begins.
BEGIN = 0.08 + PAUSE
# A larger allocation is requested first.
ANSWER = 0.0001


def test_alone() -> None:
    outcome = run(program(round(2.4 * GB), 10, 0.5, copy_in=round(1.2 * GB), startup=1.0))
    # The other half of the memory is made when it is touched first.
    assert durations(outcome) == [pytest.approx(1.0 + BEGIN + ANSWER + 0.1 + 1.2 / 7.7 + 5.0)]
    assert outcome.records[0].iterations == pytest.approx(10)
    assert outcome.records[0].turns == 1


def test_iterations_with_rests() -> None:
    outcome = run(program(0, 4, 0.25, idle=0.5))
    assert durations(outcome) == [pytest.approx(BEGIN + 4 * (0.25 + 0.5 + 5e-6))]


def test_requests_come_while_others_are_served_and_wait_for_them() -> None:
    asked = {"name": "p", "phase": [{"iterations": 300, "kernel_seconds": 0.5, "rate": 1.6}]}
    (record,) = run(asked).records
    bursts = record.bursts or []
    assert len(bursts) == 300
    free = 0.0
    waits = []
    for wanted, began, _ in bursts:
        # One after the other, each as soon as it has come and all before it are done.
        begin = max(wanted, free)
        assert began == pytest.approx(begin, abs=1e-6)
        waits.append(begin - wanted)
        free = begin + 0.5
    # With four fifths of the time taken, a queue is seldom empty, and sometimes is.
    assert min(waits) == pytest.approx(0.0, abs=1e-6)
    assert max(waits) > 1.0


def test_a_burst_begins_with_its_first_kernel() -> None:
    rests = program(1 * GB, 3, 0.5, idle=1.0)
    (record,) = run(rests).records
    first, second, _ = record.bursts or []
    # Memory that is touched for the first time is made before.
    assert first.began == pytest.approx(first.wanted + 1 / 7.7, abs=1e-6)
    assert second.began == second.wanted


def test_what_has_not_begun_when_all_ends_is_written_down_as_such() -> None:
    one, other = ({**program(10 * GB, 1000), "name": name} for name in "ab")
    outcome = run(one, other, settings={"mode": "serial"}, until=2.5)
    burst, waits = (record.bursts[-1] for record in outcome.records if record.bursts)
    assert (burst.ended, waits.began, waits.ended) == (None, None, None)
    assert burst.began is not None


def test_memory_counts_as_used_from_the_first_launch_on() -> None:
    """It comes into being later, and no other program is let in into its room until then."""
    data = {"name": "test", "gpus": "t4", "program": [program(10 * GB, 10)]}
    engine = Engine(Scenario.model_validate(data), check=True)
    (site,) = engine.sites
    told: list[tuple[float, Memory, int]] = []

    def listen(event: Event) -> None:
        if isinstance(event, MemoryChanged):
            told.append((event.now, event.memory, site.holding(0).resident))
        send(event)

    send, site.send = site.send, listen  # type: ignore[method-assign]
    engine.run()
    asked, used = told
    assert (asked[1].untouched, asked[1].swapped) == (10 * GB, 10 * GB)
    assert (used[1].untouched, used[1].swapped) == (0, 0)
    assert used[0] == pytest.approx(BEGIN + ANSWER)
    assert used[2] == 0


def test_two_that_fit_share_in_slices() -> None:
    outcome = run({**program(0, 100, 0.02), "count": 2}, settings={"lab": {"slice_seconds": 0.0}})
    # Two seconds of work each, in slices of 2 ms; every change costs 0.214 ms.
    assert max(durations(outcome)) == pytest.approx(BEGIN + 4.0 * 1.107, rel=0.001)


def test_two_that_do_not_fit_miss_everything_without_scheduling() -> None:
    outcome = run({**program(12 * GB, 30, 12 / 243), "count": 2}, settings={"mode": "off"})
    # Every iteration 12 GB by faults, each byte after another one has left. The first is made. A
    # fault holds the engine, which changes hands after every block: 4.5 ms, and 0.2 ms for that.
    iteration = 12 / 0.717 + 12 / 1.34 + 12 / 243
    first = 12 / 7.7
    for seconds in durations(outcome):
        paged = 29 * iteration * (1 + 0.214 / 4.49)
        assert seconds == pytest.approx(BEGIN + 2 * (first * 1.107 + paged), rel=0.01)
    assert outcome.sites[0].gpu.moved_out >= outcome.sites[0].gpu.moved_in


def test_who_is_left_gets_its_memory_back_by_faults_and_is_fast_again() -> None:
    short = {**program(12 * GB, 3, 0.05), "name": "short"}
    outcome = run(short, program(12 * GB, 2000, 0.05), settings={"mode": "off"})
    gone = outcome.records[0].ended
    assert gone is not None
    # Half of the 15 GB beside the contexts were its own, and hardly any of its work was done.
    assert outcome.ended - gone == pytest.approx((12 - 7.5) / 0.717 + 2000 * 0.05, rel=0.01)


def test_what_touches_nothing_does_not_page() -> None:
    program_ = program(12 * GB, 100, 0.01, touch=0)
    outcome = run({**program_, "count": 2}, settings={"mode": "off"})
    assert max(durations(outcome)) == pytest.approx(BEGIN + 2 * 1.107, rel=0.01)


def test_one_that_is_too_large_alone_pages() -> None:
    outcome = run(program(16 * GB, 3, 16 / 243))
    # More than the GPU has: each time around, all of it is missing.
    missed = 2 * 16 * (1 / 0.717 + 1 / 1.34)
    assert durations(outcome)[0] == pytest.approx(missed + 16 / 7.7 + 3 * 16 / 243, rel=0.03)


def test_shrinking_gives_memory_back() -> None:
    phases = [
        {"memory": 10 * GB, "iterations": 1, "kernel_seconds": 0.1},
        {"memory": 1 * GB, "iterations": 1, "kernel_seconds": 1.0},
    ]
    outcome = run({"name": "p", "phase": phases}, until=3.0)
    assert outcome.sites[0].gpu.board.resident == 0
    outcome = run({"name": "p", "phase": phases}, until=2.0)
    assert outcome.sites[0].gpu.board.resident == 1 * GB


def test_what_is_cut_off_counts_as_far_as_it_came() -> None:
    outcome = run(program(100 * MIB, 1000, 0.01), until=5.0)
    made = 100 * MIB / 7.7 / GB
    assert outcome.records[0].iterations == pytest.approx((5.0 - BEGIN - ANSWER - made) / 0.01)
    assert outcome.records[0].ended is None
    assert outcome.ended == 5.0


def test_one_that_grows_uses_its_memory_when_others_have_made_room() -> None:
    steady = program(10 * GB, 3000, copy_in=10 * GB, name="steady")
    phases = [
        {"memory": GB, "copy_in": GB, "iterations": 500, "kernel_seconds": 0.01},
        {"memory": 10 * GB, "iterations": 2000, "kernel_seconds": 0.01},
    ]
    outcome = run(steady, {"name": "growing", "phase": phases})
    gpu = outcome.sites[0].gpu
    # Nothing was pushed out, and nothing came by faults: all moves were in bulk.
    assert gpu.board.pushed_out == 0
    assert gpu.moved_in == sum(record.moved_in for record in outcome.records)
    assert all(record.turns >= 2 for record in outcome.records)


def test_a_small_allocation_is_not_asked_for() -> None:
    outcome = run(program(MIB, 10, 0.5))
    assert durations(outcome) == [pytest.approx(BEGIN + MIB / 7.7 / GB + 5.0)]
