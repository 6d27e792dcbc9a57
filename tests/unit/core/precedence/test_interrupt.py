"""Which waiting client may interrupt the running ones, and when."""

from typing import Any

import pytest

from nvshare.core.events import TimerKind
from nvshare.core.memory import Memory
from nvshare.core.record.pace import MULTIPLIER
from nvshare.core.record.use import half_life_of, whole_of
from nvshare.core.settings import Interactive, Limits, Mode, Priority

from ..stage import told
from .scene import SECOND, Scene

HIGH = Limits(priority=Priority.HIGH)
LOW = Limits(priority=Priority.LOW)
# By how much others have to have used more than a visitor with 12 bytes.
MARGIN = 1.5 * 2 * SECOND
# The use of a client that has always had the device.
WHOLE = whole_of(half_life_of(30.0))


def begin(**settings: Any) -> Scene:
    """1 runs, and 3 has rested for 10 s."""
    scene = Scene(**settings)
    scene.join(1, 12)
    scene.rests(3)
    scene.now += 10
    scene.tick()
    return scene


def visit(scene: Scene, client: int, *, of: int) -> None:
    """Have one that rests interrupt another."""
    assert told(scene.want(client)) == [of]
    assert scene.gives_way(of) == [client]


def await_end(scene: Scene) -> list[int]:
    """Let the timer fire when it is due. It may be set again, for a rounding error later."""
    for _ in range(3):
        going = told(scene.fire(TimerKind.TURN))
        if going:
            break
    return going


# What a visit is.


def test_who_comes_back_after_a_rest_interrupts_one_that_has_used_more() -> None:
    assert told(begin().want(3)) == [1]


def test_so_does_a_new_client() -> None:
    scene = begin()
    scene.join(4, 12, swapped=12, is_new=True)
    assert told(scene.want(4)) == [1]


def test_who_computes_all_the_time_waits_for_the_end_of_the_turn() -> None:
    scene = begin()
    scene.waits(2)
    assert scene.alarm == 1030.0
    assert told(scene.fire(TimerKind.TURN)) == [1]


@pytest.mark.parametrize(
    ("interactive", "rest"),
    [(Interactive.PROMPT, 0.5), (Interactive.BALANCED, 1.0), (Interactive.THROUGHPUT, 2.0)],
)
def test_a_rest_is_as_long_as_the_way_in_takes(interactive: Interactive, rest: float) -> None:
    def interrupts(rested: float) -> bool:
        scene = begin(interactive=interactive)
        scene.client(3).since = scene.now - rested
        scene.uses(c1=50.0)
        return told(scene.want(3)) == [1]

    assert interrupts(rest + 0.01)
    assert not interrupts(rest - 0.01)


def test_however_small_the_client_is_its_rest_is_no_moment() -> None:
    for rested, visits in ((0.09, False), (0.11, True)):
        scene = Scene()
        scene.join(1, 16)
        scene.rests(3, 1)
        # Its way in takes a twelfth of a second.
        scene.now += rested
        scene.want(3)
        assert scene.client(3).precedence.visits is visits


def test_it_interrupts_once_for_each_rest() -> None:
    scene = begin()
    visit(scene, 3, of=1)
    # It goes on computing.
    scene.fire(TimerKind.TURN)
    assert scene.gives_way(3) == [1]
    scene.uses(c1=50.0, c3=0.0)
    scene.tick()
    assert scene.alarm >= scene.device.state.turn_started + 30.0


def test_for_slices_nobody_pays_a_visit() -> None:
    scene = Scene()
    for client in (1, 2):
        scene.join(client, 4)
        scene.used(client, 0.0)
    scene.now += 1
    for client in (1, 2):
        scene.used(client, 1.0)
    scene.join(3, 4)
    scene.now += 0.5
    scene.want(3)
    assert scene.device.roster.regime.is_sliced
    assert not scene.client(3).precedence.bursts


# How much more others have to have used.


@pytest.mark.parametrize(
    ("interactive", "times"),
    [(Interactive.PROMPT, 0.5), (Interactive.BALANCED, 1.5), (Interactive.THROUGHPUT, 4.0)],
)
def test_a_visitor_waits_until_others_have_used_more_by_a_multiple_of_both_ways(
    interactive: Interactive, times: float
) -> None:
    scene = begin(interactive=interactive)
    scene.uses(c1=2.0, c3=2.0)
    assert told(scene.want(3)) == []
    assert await_end(scene) == [1]
    assert scene.use(1) - scene.use(3) == pytest.approx(times * 2 * SECOND)


@pytest.mark.parametrize(
    ("theirs", "own"), [(0.0, 0.0), (8.0, 10.0), (90.0, 100.0), (125.0, 300.0)]
)
def test_it_interrupts_at_the_announced_moment_and_not_before(theirs: float, own: float) -> None:
    def arrange() -> Scene:
        scene = begin(turn_seconds=1000.0)
        scene.uses(c1=theirs, c3=own)
        assert told(scene.want(3)) == []
        return scene

    scene = arrange()
    end = scene.alarm
    assert await_end(scene) == [1]
    assert scene.now == pytest.approx(end, rel=1e-9)
    assert scene.now < 1200.0
    scene = arrange()
    assert told(scene.fire(TimerKind.TURN, at=end - 0.01)) == []


def test_who_has_used_more_does_not_interrupt() -> None:
    scene = begin()
    scene.uses(c1=50.0, c3=50.0 - MARGIN + 0.01)
    assert told(scene.want(3)) == []
    scene = begin()
    scene.uses(c1=50.0, c3=50.0 - MARGIN - 0.01)
    assert told(scene.want(3)) == [1]


def test_who_has_had_more_than_an_equal_part_makes_way_for_who_has_used_more() -> None:
    equal = WHOLE / 2
    scene = begin()
    scene.uses(c1=equal + MARGIN - 0.01, c3=2 * equal)
    assert told(scene.want(3)) == []
    scene = begin()
    scene.uses(c1=equal + MARGIN + 0.01, c3=2 * equal)
    assert told(scene.want(3)) == [1]


def test_however_small_a_visitor_is_others_have_to_have_used_more() -> None:
    scene = Scene()
    scene.join(1, 16)
    scene.rests(3, 1)
    scene.now += 10
    scene.tick()
    # The margin is a second at least.
    scene.uses(c1=0.99)
    assert told(scene.want(3)) == []
    scene = Scene()
    scene.join(1, 16)
    scene.rests(3, 1)
    scene.now += 10
    scene.tick()
    scene.uses(c1=1.01)
    assert told(scene.want(3)) == [1]


def test_it_has_to_have_used_less_than_each_visitor_in_its_way() -> None:
    scene = Scene()
    scene.join(1, 6)
    scene.join(2, 6)
    scene.rests(3)
    scene.now += 10
    scene.tick()
    scene.client(1).precedence.bursts = True
    scene.uses(c1=0.0, c2=50.0)
    assert told(scene.want(3)) == []


# Clients that compute all the time.


@pytest.mark.parametrize(("of_two", "interrupts"), [(0.0, False), (8.0, True)])
def test_those_who_compute_all_the_time_are_compared_by_their_mean(
    of_two: float, interrupts: bool
) -> None:
    scene = begin()
    scene.waits(2)
    scene.uses(c1=10.0, c2=of_two, c3=4.0)
    assert told(scene.want(3)) == ([1] if interrupts else [])


def test_the_mean_is_not_that_of_visitors() -> None:
    scene = begin()
    scene.rests(4)
    scene.now += 10
    scene.tick()
    scene.uses(c1=10.0, c3=4.0, c4=9.0)
    assert told(scene.want(4)) == []
    assert told(scene.want(3)) == [1]


def test_nor_that_of_another_priority() -> None:
    scene = begin()
    scene.waits(2, limits=LOW)
    scene.uses(c1=10.0, c2=0.0, c3=4.0)
    assert told(scene.want(3)) == [1]


def test_where_clients_run_to_their_end_those_who_wait_for_it_do_not_count() -> None:
    scene = begin(policy="batch")
    scene.waits(2)
    scene.uses(c1=10.0, c2=0.0, c3=4.0)
    assert told(scene.want(3)) == [1]


def behind_a_steady_one(**settings: Any) -> Scene:
    """1 runs, 2 computes all the time as well and waits, 3 has rested."""
    scene = begin(**settings)
    scene.waits(2)
    scene.client(2).precedence.served_at = 0.0
    scene.uses(c1=20.0, c2=20.0)
    return scene


def test_a_visitor_goes_before_those_who_compute_all_the_time() -> None:
    scene = behind_a_steady_one()
    scene.uses(c3=18.0)
    scene.want(3)
    assert scene.device.state.head == 3


def test_but_lets_one_go_first_that_has_used_less() -> None:
    scene = behind_a_steady_one()
    scene.uses(c3=20.0)
    scene.want(3)
    assert scene.device.state.head == 2


def test_but_not_if_that_one_has_had_more_than_an_equal_part() -> None:
    scene = behind_a_steady_one()
    equal = WHOLE / 3
    scene.uses(c1=equal + MARGIN, c2=equal + MARGIN, c3=2 * equal)
    scene.want(3)
    assert scene.device.state.head == 3


def test_unless_it_has_waited_for_longer() -> None:
    scene = behind_a_steady_one()
    scene.client(2).precedence.served_at = scene.now
    scene.uses(c3=20.0)
    scene.want(3)
    assert scene.device.state.head == 3


def test_or_all_run_to_their_end() -> None:
    scene = behind_a_steady_one(policy="batch")
    scene.uses(c3=20.0)
    scene.want(3)
    assert scene.device.state.head == 3


# Visitors among themselves.


def among_visitors(**settings: Any) -> Scene:
    """3 pays a visit, and 4 has rested."""
    scene = begin(**settings)
    scene.rests(4)
    visit(scene, 3, of=1)
    scene.moved(3, Memory(12), in_bytes=12, seconds=SECOND)
    return scene


def test_a_visitor_has_its_turn_until_its_moves_have_paid() -> None:
    scene = among_visitors()
    began = scene.now
    scene.now += 2
    scene.tick()
    scene.uses(c3=50.0, c4=0.0)
    assert told(scene.want(4)) == []
    assert told(scene.fire(TimerKind.TURN)) == [3]
    assert scene.now == began + MULTIPLIER * SECOND


def test_then_it_makes_way_for_one_that_has_used_less() -> None:
    scene = among_visitors()
    scene.now += MULTIPLIER * SECOND
    scene.tick()
    scene.uses(c3=50.0, c4=0.0)
    visit(scene, 4, of=3)


@pytest.mark.parametrize("policy", ["fair", "fifo", "batch"])
def test_a_visitor_that_was_interrupted_comes_after_the_one_that_interrupted_it(
    policy: str,
) -> None:
    scene = among_visitors(policy=policy)
    scene.now += 20
    scene.tick()
    scene.uses(c3=50.0, c4=0.0)
    visit(scene, 4, of=3)


def test_a_visitor_that_has_had_more_than_its_part_stays_if_the_other_has_used_more() -> None:
    scene = among_visitors()
    scene.now += 20
    scene.tick()
    equal = WHOLE / 3
    scene.uses(c1=2 * equal, c3=equal + 2 * MARGIN, c4=2 * equal)
    # It would have the device back at once: visitors go by their use.
    assert told(scene.want(4)) == []


# Weight.


def test_a_higher_priority_need_not_have_rested() -> None:
    scene = begin(turn_seconds=200.0)
    scene.waits(4, limits=HIGH)
    assert told(scene.fire(TimerKind.TURN)) == [1]
    # But it waits for the shortest length of a turn.
    assert scene.now == 1030.0


def test_an_equal_priority_has_to() -> None:
    scene = begin(turn_seconds=200.0)
    scene.waits(4)
    assert scene.alarm == 1200.0


def test_a_higher_priority_that_has_used_more_waits() -> None:
    scene = begin(turn_seconds=200.0)
    scene.now += 40
    scene.rests(4, limits=HIGH)
    scene.uses(c1=0.0, c4=11.0)
    assert told(scene.want(4)) == []
    assert scene.alarm == pytest.approx(scene.now + 11.0, abs=1.0)


def test_the_cost_of_a_visit_counts_less_for_a_higher_priority() -> None:
    scene = begin()
    scene.rests(4, limits=HIGH)
    scene.now += 10
    scene.tick()
    scene.uses(c1=MARGIN / 20 + 0.01)
    assert told(scene.want(4)) == [1]


def test_a_lower_priority_pays_visits_too() -> None:
    scene = begin()
    scene.rests(4, limits=LOW)
    scene.now += 10
    scene.tick()
    scene.uses(c1=MARGIN - 0.01)
    assert told(scene.want(4)) == []
    assert scene.client(4).precedence.visits
    assert scene.alarm < 1100.0


def test_where_everything_fits_a_higher_priority_comes_at_once() -> None:
    scene = Scene()
    scene.join(1, 4)
    scene.now += 1
    scene.join(2, 4, limits=HIGH)
    assert scene.device.roster.regime.is_sliced
    assert told(scene.want(2)) == [1]


def test_one_at_a_time_it_waits_as_for_memory() -> None:
    scene = Scene(mode=Mode.SERIAL, turn_seconds=200.0)
    scene.join(1, 4)
    scene.waits(2, 4, limits=HIGH)
    assert scene.alarm == 1030.0
