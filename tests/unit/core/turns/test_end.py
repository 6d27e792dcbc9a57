"""When a turn ends for the head: also by who has used more."""

from typing import Any

from nvshare.core.events import TimerKind
from nvshare.core.settings import NO_LIMITS, Limits, Priority
from nvshare.core.turns.end import LEAST

from ..precedence.scene import Scene
from ..stage import told

HIGH = Limits(priority=Priority.HIGH)


def begin(runs: Limits = NO_LIMITS, waits: Limits = NO_LIMITS, **settings: Any) -> Scene:
    """1 runs and 2 waits; both compute all the time."""
    scene = Scene(**settings)
    scene.join(1, 12, limits=runs)
    scene.waits(2, limits=waits)
    return scene


def begin_with_visitor(used: float, **settings: Any) -> Scene:
    """1 runs, and 3 pays a visit, that has used more."""
    scene = Scene(**settings)
    scene.join(1, 12)
    scene.rests(3)
    scene.now += 10
    scene.tick()
    scene.uses(c1=0.0, c3=used)
    assert told(scene.want(3)) == []
    return scene


def ended(scene: Scene) -> tuple[float, int]:
    """Return how long the turn has lasted in the end, and how often the timer has fired."""
    for fired in range(1, 10_000):
        if told(scene.fire(TimerKind.TURN)):
            return scene.now - scene.device.state.turn_started, fired
    raise AssertionError("the turn does not end")


def test_alike_clients_that_compute_all_the_time_take_equal_turns() -> None:
    scene = begin()
    # Less than a turn's time apart, and a little.
    scene.uses(c1=0.0, c2=35.0)
    assert ended(scene) == (30.0, 1)


def test_one_that_has_overrun_its_turns_waits_for_longer() -> None:
    scene = begin()
    scene.uses(c1=0.0, c2=100.0)
    assert ended(scene)[0] > 45.0


def test_a_turn_does_not_end_for_a_visitor_that_has_used_more() -> None:
    scene = begin_with_visitor(60.0)
    lasted, _ = ended(scene)
    assert lasted > 45.0
    assert abs(scene.use(1) - scene.use(3)) < 5.0


def test_nor_does_the_turn_of_a_visitor_for_one_that_computes_all_the_time() -> None:
    scene = begin()
    scene.client(1).precedence.bursts = True
    scene.uses(c1=0.0, c2=60.0)
    assert ended(scene)[0] > 45.0


def test_it_ends_for_one_that_has_used_less() -> None:
    assert ended(begin_with_visitor(19.0))[0] <= 30.0


def test_of_several_that_run_one_has_to_have_used_as_much() -> None:
    scene = Scene()
    scene.join(1, 6)
    scene.join(2, 6)
    scene.rests(3)
    scene.now += 10
    scene.tick()
    scene.uses(c1=40.0, c2=0.0, c3=45.0)
    assert told(scene.want(3)) == []
    assert ended(scene)[0] == 30.0


def test_it_lasts_no_longer_than_the_longest_turn() -> None:
    scene = begin_with_visitor(100.0, turn_max=40.0)
    assert ended(scene)[0] == 40.0


def test_a_higher_priority_goes_on_until_it_has_used_as_much() -> None:
    scene = begin(runs=HIGH)
    scene.uses(c2=5.0)
    lasted, _ = ended(scene)
    assert 60.0 < lasted < 100.0


def test_a_turn_of_a_higher_priority_ends_all_the_same_in_the_end() -> None:
    scene = begin(runs=HIGH)
    scene.uses(c2=100.0)
    assert ended(scene)[0] == scene.settings.turn_max


def test_it_is_not_looked_at_endlessly() -> None:
    scene = begin(runs=HIGH)
    scene.uses(c2=5.0)
    assert ended(scene)[1] < 0.5 / LEAST


def test_where_clients_run_to_their_end_that_is_the_end() -> None:
    scene = begin(waits=Limits(priority=Priority.LOW), policy="batch", batch_turn=50.0)
    scene.uses(c2=100.0)
    assert ended(scene) == (50.0, 1)
