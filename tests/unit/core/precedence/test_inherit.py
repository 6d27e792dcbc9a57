"""Who joins anew goes on with the use that its owner has left."""

import pytest

from nvshare.core.precedence.inherit import _LEAST
from nvshare.core.record.use import half_life_of
from nvshare.core.settings import Limits, Priority

from .scene import Scene

HALF_LIFE = half_life_of(30.0)


def left_by(owner: str) -> Scene:
    """Have a client of this owner leave that has used 10 s, while one of another user waits."""
    scene = Scene()
    scene.join(1, 12, owner=owner)
    scene.waits(2, owner="bob/1")
    scene.now += 1
    scene.tick()
    scene.uses(c1=10.0)
    scene.leave(1)
    return scene


def test_who_connects_again_goes_on_with_its_use() -> None:
    scene = left_by("ann/1")
    scene.rests(3, owner="ann/1")
    assert scene.use(3) == 10.0


def test_it_decays_meanwhile() -> None:
    scene = left_by("ann/1")
    scene.now += HALF_LIFE
    scene.rests(3, owner="ann/1")
    assert scene.use(3) == pytest.approx(5.0)


def test_the_time_of_a_turn_that_ends_with_its_client_counts() -> None:
    scene = Scene()
    scene.join(1, 12, owner="ann/1")
    scene.waits(2, owner="bob/1")
    scene.now += 10
    scene.leave(1)
    scene.rests(3, owner="ann/1")
    assert scene.use(3) == pytest.approx(10.0, rel=0.02)


def test_it_counts_by_the_weight_of_its_client() -> None:
    scene = Scene()
    scene.join(1, 12, owner="ann/1", limits=Limits(priority=Priority.HIGH))
    scene.waits(2, owner="bob/1")
    scene.now += 10
    scene.leave(1)
    scene.rests(3, owner="ann/1")
    assert scene.use(3) == pytest.approx(10.0 / 20, rel=0.02)


def test_also_if_nobody_else_is_there() -> None:
    scene = left_by("ann/1")
    scene.leave(2)
    scene.join(3, 12, owner="ann/1")
    assert scene.use(3) == 10.0


def test_another_process_of_the_user_inherits_while_another_user_competes() -> None:
    scene = left_by("ann/1")
    scene.rests(3, owner="ann/2")
    assert scene.use(3) == 10.0


def test_but_not_while_only_that_user_competes() -> None:
    scene = left_by("ann/1")
    scene.leave(2)
    scene.join(3, 12, owner="ann/2")
    assert scene.use(3) == 0.0


def test_of_several_it_inherits_the_greatest() -> None:
    scene = left_by("ann/1")
    for client, owner, seconds in ((4, "ann/4", 30.0), (5, "ann/5", 20.0)):
        scene.rests(client, owner=owner)
        scene.uses(**{f"c{client}": seconds})
        scene.leave(client)
    scene.rests(6, owner="ann/6")
    assert scene.use(6) == 30.0


def test_of_several_with_one_owner_the_one_that_leaves_last_does_not_clear_the_others() -> None:
    scene = left_by("ann/1")
    scene.rests(3, owner="ann/1")
    scene.rests(4, owner="ann/1")
    scene.uses(c3=10.0, c4=0.0)
    scene.leave(3)
    scene.leave(4)
    scene.rests(5, owner="ann/1")
    assert scene.use(5) == 10.0


@pytest.mark.parametrize("owner", ["bob/2", "anna/1", ""])
def test_other_users_inherit_nothing(owner: str) -> None:
    scene = left_by("ann/1")
    scene.rests(3, owner=owner)
    assert scene.use(3) == 0.0


def test_of_who_has_no_known_owner_nothing_is_kept() -> None:
    scene = left_by("")
    assert scene.device.state.left_uses == {}
    scene.rests(3)
    assert scene.use(3) == 0.0


def test_what_has_decayed_is_forgotten() -> None:
    scene = left_by("ann/1")
    scene.rests(4, owner="dan/1")
    scene.uses(c4=1.0)
    scene.now += 5 * HALF_LIFE
    scene.leave(4)
    assert list(scene.device.state.left_uses) == ["ann/1"]
    assert 10.0 * 2**-5 > _LEAST * HALF_LIFE > 10.0 * 2**-6
    scene.rests(5, owner="eve/1")
    scene.now += HALF_LIFE
    scene.leave(5)
    assert scene.device.state.left_uses == {}


def test_who_has_no_turn_pays_nothing_from_then_on() -> None:
    scene = left_by("ann/1")
    scene.rests(3, owner="ann/1")
    scene.now += HALF_LIFE
    scene.tick()
    assert scene.use(3) == pytest.approx(5.0)


def test_who_joins_with_a_turn_does() -> None:
    scene = Scene()
    scene.join(1, 12, running=True, turn=1)
    scene.waits(2)
    scene.now += 1
    scene.tick()
    assert scene.use(1) == pytest.approx(1.0, rel=0.02)
