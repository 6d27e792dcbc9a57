"""What the time of turns and the moves of visits cost whom."""

import pytest

from nvshare.core.precedence.charge import keep_up
from nvshare.core.settings import Limits, Priority

from ..stage import told
from .scene import SECOND, Scene

ABOUT = 0.02


@pytest.fixture
def scene() -> Scene:
    """1 runs, and 3 rests."""
    scene = Scene()
    scene.join(1, 12)
    scene.rests(3)
    return scene


# Time.


def test_who_holds_the_device_pays_for_the_time_and_who_does_not_pays_nothing(
    scene: Scene,
) -> None:
    scene.waits(2)
    scene.now += 1
    scene.tick()
    assert scene.use(1) == pytest.approx(1.0, rel=ABOUT)
    assert (scene.use(2), scene.use(3)) == (0.0, 0.0)


def test_several_that_hold_it_pay_equal_parts() -> None:
    scene = Scene()
    scene.join(1, 6)
    scene.join(2, 6)
    scene.rests(3)
    scene.now += 1
    scene.tick()
    assert scene.use(1) == scene.use(2) == pytest.approx(0.5, rel=ABOUT)


def test_a_turn_that_is_over_is_paid_once(scene: Scene) -> None:
    scene.now += 1
    scene.gives_way(1, wants=False)
    assert scene.use(1) == pytest.approx(1.0, rel=ABOUT)
    scene.want(3)
    scene.now += 180
    scene.tick()
    assert scene.use(1) == pytest.approx(0.5, rel=ABOUT)


def test_while_everything_fits_time_costs_nothing() -> None:
    scene = Scene()
    scene.join(1, 8)
    scene.join(2, 8)
    scene.now += 100
    scene.release(2)
    scene.join(3, 8)
    assert [scene.use(client) for client in (1, 2, 3)] == [0.0, 0.0, 0.0]


def test_while_everything_fits_the_way_in_costs_nothing() -> None:
    scene = Scene()
    scene.rests(3)
    scene.want(3)
    assert scene.states() == {3: "running"}
    assert scene.use(3) == 0.0


def test_who_is_in_nobodys_way_pays_nothing(scene: Scene) -> None:
    scene.waits(2)
    scene.join(4)
    scene.want(4)
    scene.now += 1
    scene.release(4)
    assert scene.use(4) == 0.0


def test_a_higher_priority_pays_less() -> None:
    scene = Scene()
    scene.join(1, 12, limits=Limits(priority=Priority.HIGH))
    scene.waits(2)
    scene.now += 1
    scene.tick()
    assert scene.use(1) == pytest.approx(1.0 / 20, rel=ABOUT)


# Moves.


def test_a_visit_pays_its_way_in(scene: Scene) -> None:
    scene.gives_way(1, wants=False)
    scene.want(3)
    assert scene.states() == {1: "idle", 3: "running"}
    assert scene.use(3) == SECOND


def test_who_interrupts_others_pays_both_ways_and_they_come_back_free(scene: Scene) -> None:
    scene.now += 20
    assert told(scene.want(3)) == [1]
    before = scene.use(1)
    assert scene.gives_way(1) == [3]
    assert scene.use(3) == 2 * SECOND
    assert scene.gives_way(3, wants=False) == [1]
    assert scene.use(1) == before


def test_it_pays_the_way_back_only_once(scene: Scene) -> None:
    scene.now += 20
    scene.want(3)
    scene.gives_way(1)
    scene.gives_way(3, wants=False)
    scene.gives_way(1, wants=False)
    scene.want(3)
    assert scene.states() == {1: "idle", 3: "running"}
    assert scene.use(3) == 3 * SECOND


def test_whose_turn_is_over_pays_its_way_back(scene: Scene) -> None:
    scene.waits(2)
    scene.now = scene.alarm
    assert told(scene.want(3)) == [1]
    before = scene.use(1)
    came = scene.gives_way(1)
    scene.leave(2 if came == [3] else 3)
    scene.gives_way(came[0], wants=False)
    assert scene.state(1).value == "running"
    assert scene.use(1) == pytest.approx(before + SECOND)


def test_the_moves_of_a_higher_priority_cost_it_less() -> None:
    scene = Scene()
    scene.join(1, 12)
    scene.rests(3, limits=Limits(priority=Priority.HIGH))
    scene.now += 20
    assert told(scene.want(3)) == [1]
    scene.gives_way(1)
    assert scene.use(3) == 2 * SECOND / 20


# Slices.


def sliced(*, priority: Priority = Priority.NORMAL) -> Scene:
    """1, 2 and 3 fit together and compute all the time, in slices; 1 is of another priority."""
    scene = Scene()
    for client in (1, 2, 3):
        scene.join(client, 4, limits=Limits(priority=priority if client == 1 else Priority.NORMAL))
        scene.used(client, 0.0)
    scene.now += 1
    for client in (1, 2, 3):
        scene.used(client, 1.0)
    assert scene.device.roster.regime.is_sliced
    return scene


def keep_up_with(scene: Scene, client: int) -> float:
    keep_up(scene.device.roster, scene.client(client))
    return scene.use(client)


def test_for_slices_a_client_begins_where_the_least_of_the_others_is() -> None:
    scene = sliced()
    scene.uses(c1=5.0, c2=1.0, c3=7.0)
    assert keep_up_with(scene, 2) == 5.0


def test_for_slices_nobody_is_forgiven_what_it_has_used() -> None:
    scene = sliced()
    scene.uses(c1=5.0, c2=6.0, c3=7.0)
    assert keep_up_with(scene, 2) == 6.0


def test_for_slices_those_of_less_weight_do_not_count() -> None:
    scene = sliced(priority=Priority.LOW)
    scene.want(3)
    scene.release(1, wants=True)
    assert scene.states() == {1: "waiting", 2: "idle", 3: "running"}
    scene.uses(c1=5.0, c2=1.0, c3=7.0)
    assert keep_up_with(scene, 2) == 7.0


def test_for_memory_it_keeps_what_it_has_saved(scene: Scene) -> None:
    scene.waits(2)
    scene.uses(c1=5.0)
    assert keep_up_with(scene, 3) == 0.0
