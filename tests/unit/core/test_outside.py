from nvshare.core.effects import Effect
from nvshare.core.events import OutsideChanged

from .stage import GPU, Stage, granted, told


def outside(stage: Stage, size: int) -> list[Effect]:
    return stage.core.handle(OutsideChanged(now=stage.now, device=GPU, outside_bytes=size))


def pair() -> Stage:
    """Two clients of 7 bytes on 16, together."""
    stage = Stage()
    for client in (1, 2):
        stage.join(client, 7)
        stage.want(client)
    assert stage.states() == {1: "running", 2: "running"}
    return stage


def test_who_no_longer_fits_beside_others_takes_turns() -> None:
    stage = pair()
    effects = outside(stage, 4)
    assert len(told(effects)) == 1
    assert stage.core.view(GPU).usable == 12


def test_what_still_fits_is_left_alone() -> None:
    stage = pair()
    assert outside(stage, 2) == []
    assert stage.states() == {1: "running", 2: "running"}


def test_when_they_are_gone_all_run_together_again() -> None:
    stage = pair()
    (late,) = told(outside(stage, 4))
    stage.release(late, wants=True)
    assert stage.states()[late] == "waiting"
    assert granted(outside(stage, 0)) == [late]


def test_outsiders_may_have_everything() -> None:
    stage = pair()
    outside(stage, 99)
    assert stage.core.view(GPU).usable == 0
    # One runs at a time all the same: none waits for ever.
    assert sorted(stage.states().values()) == ["running", "yielding"]


def test_a_new_setting_does_not_make_them_leave() -> None:
    stage = pair()
    outside(stage, 4)
    stage.change(usable=20)
    assert stage.core.view(GPU).usable == 16
