"""Turns: how long programs wait, what is still done when a turn ends, and what moves."""

from itertools import pairwise
from typing import Any

import pytest

from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Grant,
    Keep,
    Revoke,
    Room,
    Trim,
    Urgency,
)
from nvshare.core.events import ClientLeft, Event, Moved, Released
from nvshare.lab.sim.engine import Engine, Outcome
from nvshare.lab.sim.record import Kind, Record
from nvshare.lab.sim.scenario import Scenario
from nvshare.settings import DeviceSettings

from .making import GB, MIB, PAUSE, program, run

BEGIN = 0.08 + PAUSE
BUS = 12e9
TURN = {"mode": "auto", "turn_seconds": 10.0}
# The memory of a T4 that the daemon counts on.
MEMORY = round(14913.6875 * MIB)
ROOM = DeviceSettings().usable_of(MEMORY) - 2 * DeviceSettings().context_of(MEMORY)


def turns(outcome: Outcome) -> list[tuple[float, str, float]]:
    """The times in which each program ran, in order."""
    return sorted(
        (span.begin, record.name, span.end)
        for record in outcome.records
        for span in record.spans or ()
        if span.kind is Kind.RUN
    )


def moves(record: Record, kind: Kind) -> list[tuple[float, float]]:
    return [(span.begin, span.end) for span in record.spans or () if span.kind is kind]


def two(size: int, seconds: float = 60.0, **fields: Any) -> Outcome:
    kernels = round(seconds / 0.01)
    return run({**program(size, kernels), "count": 2}, settings=TURN, **fields)


def test_they_take_turns_of_the_length_that_was_set() -> None:
    outcome = two(10 * GB)
    ran = turns(outcome)
    for (begin, name, end), (begin_next, name_next, _) in pairwise(ran[2:-2]):
        assert name != name_next
        assert end - begin == pytest.approx(10.0, abs=1.0)
        assert begin_next > end


def test_never_two_at_once() -> None:
    for (_, _, end), (begin, _, _) in pairwise(turns(two(10 * GB))[2:]):
        assert begin >= end


def test_what_moves_is_need_less_what_is_free() -> None:
    outcome = two(10 * GB)
    changes = sum(record.released for record in outcome.records)
    moved = sum(record.moved_out for record in outcome.records)
    assert changes > 8
    # The first to give way had used nothing of its memory yet.
    assert moved == pytest.approx((changes - 1) * (2 * 10 * GB - ROOM), rel=0.001)


def test_out_and_in_overlap_as_far_as_the_bus_allows() -> None:
    outcome = two(10 * GB)
    one, other = outcome.records
    for begin, end in moves(one, Kind.IN)[:3]:
        out = [span for span in moves(other, Kind.OUT) if abs(span[0] - begin) < 0.01]
        assert len(out) == 1
        size = 2 * 10 * GB - ROOM
        # A 32nd behind, and memory that leaves has to be mapped for the CPU.
        assert end - begin == pytest.approx(1.035 * size / 10.8e9, rel=0.01)
        assert end >= out[0][1]


def test_what_is_in_flight_is_still_done() -> None:
    # With kernels of a second, two are in flight: the one that runs, and the next one.
    long = {**program(10 * GB, 60, 1.0), "name": "long"}
    other = {**program(10 * GB, 600, 0.01), "name": "other", "arrival": 5.0}
    outcome = run(long, other, settings=TURN)
    _, name, end = turns(outcome)[0]
    assert name == "long"
    # It began at 0.08 s, asked for 10 GB, made them, and from then on a kernel ended every second.
    began = BEGIN + 0.0001 + 10 / 7.7
    assert end - began == pytest.approx(round(end - began), abs=1e-6)
    assert outcome.records[0].iterations == pytest.approx(60)


def test_who_rests_gives_way_before_the_turn_ends() -> None:
    rests = {**program(10 * GB, 2, 1.0, idle=30.0), "name": "rests"}
    works = {**program(10 * GB, 500, 0.01), "name": "works", "arrival": 0.5}
    outcome = run(rests, works, settings={"mode": "auto", "turn_seconds": 100.0})
    first, second = turns(outcome)[:2]
    assert (first[1], second[1]) == ("rests", "works")
    # It rests after making 10 GB and a kernel. No move has been measured yet, so it gives way after
    # the usual grace.
    rests_from = BEGIN + 10 / 7.7 + 1.0
    assert first[2] == pytest.approx(rests_from + 0.05, abs=0.001)


def test_who_rests_gives_way_at_once_if_nothing_has_to_move() -> None:
    rests = {**program(1 * GB, 2, 1.0, idle=30.0), "name": "rests"}
    works = {**program(1 * GB, 500, 0.01), "name": "works", "arrival": 0.5}
    outcome = run(rests, works, settings={"mode": "serial", "turn_seconds": 100.0})
    first, second = turns(outcome)[:2]
    assert (first[1], second[1]) == ("rests", "works")
    assert first[2] == pytest.approx(BEGIN + 1 / 7.7 + 1.0 + 0.05, abs=0.001)


def test_nobody_is_switched_while_everything_fits() -> None:
    kernels = {**program(6 * GB, 6000), "count": 2}
    outcome = run(kernels, settings={**TURN, "lab": {"slice_seconds": 0.0}})
    assert [record.released for record in outcome.records] == [0, 0]
    assert outcome.sites[0].gpu.moved_out == outcome.sites[0].gpu.moved_in == 0


def test_who_computes_all_the_time_takes_short_turns_while_everything_fits() -> None:
    outcome = two(6 * GB)
    (site,) = outcome.sites
    assert (site.core_view.turn_changes, site.gpu.moved_out, site.gpu.moved_in) == (0, 0, 0)
    ran = turns(outcome)
    for (begin, name, end), (begin_next, name_next, _) in pairwise(ran[3:-3]):
        assert name != name_next
        assert end - begin == pytest.approx(1.0, abs=0.03)
        assert begin_next >= end
    # It takes two seconds to find out; from then on nothing is lost by changing between them.
    assert outcome.ended == pytest.approx(BEGIN + 2 * (60.0 + 6 / 7.7), rel=0.002)


def test_one_after_the_other_in_serial_mode() -> None:
    outcome = run(
        {**program(1 * GB, 1000), "count": 2}, settings={"mode": "serial", "turn_seconds": 2.0}
    )
    assert outcome.sites[0].gpu.moved_out == 0
    assert sum(record.released for record in outcome.records) >= 8
    # No change of context in the middle of a turn: only the change of turn costs time.
    assert outcome.ended == pytest.approx(20.0, rel=0.02)


def test_a_program_that_grows_splits_those_who_run_at_once() -> None:
    grows = {
        "name": "grows",
        "phase": [
            {"memory": 1 * GB, "iterations": 500, "kernel_seconds": 0.01},
            {"memory": 10 * GB},
            {"wait": PAUSE, "iterations": 500, "kernel_seconds": 0.01},
        ],
    }
    settings = {**TURN, "lab": {"slice_seconds": 0.0}}
    outcome = run({**program(10 * GB, 3000), "name": "steady"}, grows, settings=settings)
    assert {report.kind.value for report in outcome.sites[0].reports} == {"split"}
    ends = [end for _, _, end in turns(outcome)]
    # It makes its 1 GB and computes on half of the GPU, less the loss.
    assert min(ends) == pytest.approx(BEGIN + (1 / 7.7 + 5.0) * 2 * 1.107, abs=0.05)
    assert outcome.sites[0].gpu.move_seconds < 0.1 * outcome.ended


def play(*orders: Effect) -> list[Event]:
    """Give a resting program of 4 GB an order every second; return its messages from then on."""
    phases = [{"memory": 4 * GB, "copy_in": 4 * GB}, {"wait": 10.0, "iterations": 0}]
    data = {"name": "test", "gpus": "t4", "program": [{"name": "p", "phase": phases}]}
    engine = Engine(Scenario.model_validate(data), check=True)
    (site,) = engine.sites
    told: list[Event] = []

    def obey(order: Effect) -> None:
        # The core is left out from the first order on.
        site.send = told.append  # type: ignore[assignment,method-assign]
        site.gpu.catch_up(engine.now)
        site.programs[0].gate.obey(order)
        site.deliver()

    for number, order in enumerate(orders):
        engine.at(2.0 + number, lambda order=order: obey(order))  # type: ignore[misc]
    engine.run()
    return told


def test_what_a_turn_is_to_begin_with_comes_and_no_more() -> None:
    released, *out, into, left = play(
        Revoke(client=0, turn=1, urgency=Urgency.NOW, evict_bytes=3 * GB),
        Grant(client=0, turn=2, fill_bytes=1 * GB),
    )
    assert isinstance(released, Released)
    assert isinstance(into, Moved)
    assert isinstance(left, ClientLeft)
    # In steps, and memory on its way counts as away from the beginning.
    assert released.left == 3 * GB
    assert len(out) == 10
    to_leave = 3 * GB
    for moved in out:
        assert isinstance(moved, Moved)
        to_leave -= moved.out_bytes
        assert (moved.turn, moved.left, moved.memory.swapped) == (1, to_leave, 3 * GB)
    assert to_leave == 0
    assert (into.turn, into.in_bytes, into.memory.swapped) == (2, 1 * GB, 2 * GB)


def test_a_turn_that_ends_in_the_middle_of_a_fill_tells_of_what_has_come() -> None:
    told = play(
        Revoke(client=0, turn=1, urgency=Urgency.NOW, evict_bytes=3 * GB),
        Grant(client=0, turn=2, missing=2 * GB),
        Revoke(client=0, turn=2, urgency=Urgency.NOW),
    )
    into, released = told[-3:-1]
    assert isinstance(into, Moved)
    assert isinstance(released, Released)
    came = 1 * GB
    assert (into.turn, into.in_bytes, into.left) == (2, came, 0)
    assert into.seconds == pytest.approx(came / BUS)
    assert (released.turn, released.memory.swapped) == (2, 3 * GB - came)


def test_a_gate_opens_when_there_is_room_for_all_of_it() -> None:
    told = play(
        Revoke(client=0, turn=1, urgency=Urgency.NOW, evict_bytes=3 * GB),
        Grant(client=0, turn=2, missing=2 * GB),
        Room(client=0, turn=2, missing=1 * GB),
        Room(client=0, turn=2, missing=0),
    )
    into = told[-2]
    assert isinstance(into, Moved)
    assert (into.turn, into.in_bytes) == (2, 3 * GB)
    # Three seconds after the first order there is room for all of it.
    assert into.now == pytest.approx(5.0 + 0.0001)


def test_orders_about_other_turns_are_void() -> None:
    (left,) = play(
        Grant(client=0, turn=1),
        Revoke(client=0, turn=2, urgency=Urgency.NOW),
        Keep(client=0, turn=2),
        CancelHandover(from_client=0, from_turn=2),
    )
    assert isinstance(left, ClientLeft)


def test_what_is_trimmed_leaves_while_the_program_runs_and_comes_back_as_it_is_used() -> None:
    data = {"name": "test", "gpus": "t4", "program": [program(4 * GB, 1000)]}
    engine = Engine(Scenario.model_validate(data), check=True, picture=True)
    (site,) = engine.sites
    told: list[Moved] = []

    def trim() -> None:
        site.gpu.catch_up(engine.now)
        site.programs[0].gate.obey(Trim(client=0, trim_bytes=1 * GB))
        site.deliver()

    def listen(event: Event) -> None:
        if isinstance(event, Moved):
            told.append(event)
        send(event)

    send, site.send = site.send, listen  # type: ignore[method-assign]
    engine.at(5.0, trim)
    (record,) = engine.run().records
    assert [moved.out_bytes for moved in told if moved.out_bytes] == [1 * GB]
    assert record.moved_out == 1 * GB
    # It was not stopped, and nothing was lost.
    assert record.released == 0
    assert record.iterations == pytest.approx(1000)
