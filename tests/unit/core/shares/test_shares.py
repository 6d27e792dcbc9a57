"""Effective shares: scaled down when they add up to too much, over a time that suits the turns."""

from nvshare.core.effects import Effect, SetLimits, Share
from nvshare.core.events import ClientLeft, LimitsChanged, Reason, TimerKind
from nvshare.core.record.device import RegimeName
from nvshare.core.settings import NO_LIMITS, Limits

from ..stage import Stage


def join(stage: Stage, client: int, percent: int | None, *, size: int = 1, group: str = "") -> None:
    stage.join(client, size, limits=Limits(compute_percent=percent), group=group)
    stage.used(client, 0.0)


def told(effects: list[Effect]) -> dict[int, Share]:
    return {one.client: one.share for one in effects if isinstance(one, SetLimits)}


def share(stage: Stage, client: int) -> Share:
    return stage.device.roster.clients[client].share


def compute_all_the_time(stage: Stage, *clients: int) -> None:
    """Let enough time pass to be seen to compute all the time."""
    stage.now += 2.0
    for client in clients:
        stage.used(client, 2.0)


def test_alone_a_share_is_what_it_says_in_a_short_window() -> None:
    stage = Stage()
    join(stage, 1, 40)
    assert share(stage, 1) == Share(40.0, 0.1, 1)


def test_a_hundred_percent_is_no_cap() -> None:
    stage = Stage()
    join(stage, 1, 100)
    assert share(stage, 1) == Share()


def test_shares_that_add_up_to_more_than_there_is_shrink_in_proportion() -> None:
    stage = Stage()
    join(stage, 1, 90)
    join(stage, 2, 30)
    assert (share(stage, 1).percent, share(stage, 2).percent) == (90.0, 30.0)
    compute_all_the_time(stage, 1, 2)
    assert (share(stage, 1).percent, share(stage, 2).percent) == (75.0, 25.0)
    # A client that leaves does not change the shares of the others.
    stage.core.handle(ClientLeft(now=stage.now, client=1))
    assert share(stage, 2).percent == 30.0


def test_who_has_no_share_takes_nothing_from_those_who_have() -> None:
    stage = Stage()
    join(stage, 1, 60)
    join(stage, 2, None)
    compute_all_the_time(stage, 1, 2)
    assert share(stage, 1).percent == 60.0


def test_processes_with_one_limit_count_once() -> None:
    stage = Stage()
    join(stage, 1, 60, group="pod")
    join(stage, 2, 60, group="pod")
    join(stage, 3, 60)
    compute_all_the_time(stage, 1, 2, 3)
    assert {share(stage, client).percent for client in (1, 2, 3)} == {50.0}


def test_with_turns_the_window_leaves_time_for_everybodys_turn() -> None:
    stage = Stage()
    for client in (1, 2, 3):
        join(stage, client, 20)
    compute_all_the_time(stage, 1, 2, 3)
    assert stage.device.state.regime is RegimeName.BUSY
    assert share(stage, 1).window == 2 * 3 * 0.05


def test_with_turns_for_memory_it_is_as_long_as_those() -> None:
    stage = Stage(turn_seconds=40.0)
    join(stage, 1, 30, size=12)
    join(stage, 2, 60, size=12)
    stage.want(2)
    assert share(stage, 1).window == share(stage, 2).window == 2 * 2 * 40.0


def test_a_change_is_told_at_once_and_once() -> None:
    stage = Stage()
    join(stage, 1, 30)
    event = LimitsChanged(now=stage.now, client=1, limits=Limits(compute_percent=31))
    assert told(stage.core.handle(event)) == {1: Share(31.0, 0.1)}
    lifted = LimitsChanged(now=stage.now, client=1, limits=NO_LIMITS)
    assert told(stage.core.handle(lifted)) == {1: Share()}
    assert told(stage.want(1)) == {}


def test_who_has_used_its_share_up_and_does_not_come_back_wants_nothing() -> None:
    stage = Stage()
    join(stage, 1, 80)
    join(stage, 2, 80)
    compute_all_the_time(stage, 1, 2)
    holder = next(iter(stage.device.roster.running))
    other = 3 - holder
    stage.want(other)
    stage.release(holder, reason=Reason.USED_UP)
    assert share(stage, other).percent == 50.0
    stage.fire(TimerKind.SHARE, stage.now + 0.5)
    assert share(stage, other).percent == 50.0
    stage.fire(TimerKind.SHARE)
    assert share(stage, other).percent == 80.0


def test_who_is_told_to_go_while_it_waits_for_its_work_computes_all_the_time() -> None:
    stage = Stage()
    join(stage, 1, 30)
    join(stage, 2, None)
    compute_all_the_time(stage, 1, 2)
    holder = next(iter(stage.device.roster.running))
    stage.release(3 - holder, wants=True)
    stage.fire(TimerKind.TURN)
    stage.release(holder, reason=Reason.TOLD)
    assert stage.device.state.regime is RegimeName.BUSY
    # It is not back in time: it has nothing more to do.
    stage.fire(TimerKind.SHARE)
    assert stage.device.state.regime is not RegimeName.BUSY
