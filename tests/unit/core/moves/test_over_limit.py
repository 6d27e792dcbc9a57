"""The excess of a group over its limit is divided among its members, and taken back."""

from dataclasses import replace
from typing import Any

import pytest

from nvshare.core.effects import Answer, Effect, Trim
from nvshare.core.events import LimitsChanged, MemoryChanged, OverLimitChanged
from nvshare.core.memory import Kind, Memory
from nvshare.core.replay import replay
from nvshare.core.settings import Limits

from ..stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage(swap_excess=True)


def limit(stage: Stage, memory: int | None, *clients: int) -> list[Effect]:
    limits = Limits(memory_bytes=memory)
    events = [LimitsChanged(now=stage.now, client=one, limits=limits) for one in clients]
    return [effect for event in events for effect in stage.core.handle(event)]


def over_limit(stage: Stage) -> list[int]:
    return [stage.core.client_view(one).over_limit for one in sorted(stage.states())]


def trims(effects: list[Effect]) -> dict[int, int]:
    return {one.client: one.trim_bytes for one in effects if isinstance(one, Trim)}


def join(stage: Stage, client: int, allocated: int, **more: Any) -> None:
    stage.join(client, allocated, **{"group": "g", **more})


def test_the_first_move_first_as_far_as_their_memory_can_move(stage: Stage) -> None:
    join(stage, 1, 4, pinned=3)
    join(stage, 2, 4)
    assert trims(limit(stage, 8, 1, 2)) == {}
    assert trims(limit(stage, 6, 1, 2)) == {1: 1, 2: 1}
    assert over_limit(stage) == [1, 1]
    assert trims(limit(stage, 1, 1, 2)) == {2: 3}
    assert over_limit(stage) == [1, 4]
    limit(stage, None, 1, 2)
    assert over_limit(stage) == [0, 0]


def test_a_group_is_judged_when_all_of_it_has_the_limit(stage: Stage) -> None:
    join(stage, 1, 4)
    join(stage, 2, 4)
    for lower, more in ((7, {1: 1}), (6, {1: 1}), (4, {1: 2})):
        assert trims(limit(stage, lower, 1)) == {}
        assert trims(limit(stage, lower, 2)) == more


def test_that_goes_for_other_limits_as_well(stage: Stage) -> None:
    limits = Limits(memory_bytes=6)
    join(stage, 1, 4, limits=limits)
    join(stage, 2, 4, limits=limits)
    capped = replace(limits, compute_percent=30)
    first, second = (LimitsChanged(now=stage.now, client=n, limits=capped) for n in (1, 2))
    assert trims(stage.core.handle(first)) == {}
    assert trims(stage.core.handle(second)) == {1: 2}


def test_others_are_not_concerned(stage: Stage) -> None:
    join(stage, 1, 4)
    join(stage, 2, 4, group="other")
    join(stage, 3, 3, group="")
    join(stage, 4, 3, group="")
    limit(stage, 2, 1)
    assert over_limit(stage) == [2, 0, 0, 0]
    # A client without a group has its limit for itself.
    limit(stage, 1, 3)
    assert over_limit(stage) == [2, 0, 2, 0]


def test_a_context_does_not_count(stage: Stage) -> None:
    stage.join(1, group="g")
    memory = Memory(6, 2, context=2)
    stage.core.handle(MemoryChanged(now=stage.now, client=1, memory=memory))
    limit(stage, 4, 1)
    assert over_limit(stage) == [0]
    limit(stage, 3, 1)
    assert over_limit(stage) == [1]


def test_it_follows_what_is_allocated_and_who_is_there(stage: Stage) -> None:
    join(stage, 1, 4)
    join(stage, 2, 4)
    limit(stage, 3, 1, 2)
    assert over_limit(stage) == [4, 1]
    stage.memory(2, 1)
    assert over_limit(stage) == [2, 0]
    stage.leave(2)
    assert over_limit(stage) == [1]


def test_an_answer_comes_after_all_that_follows(stage: Stage) -> None:
    join(stage, 1, 4)
    limit(stage, 6, 1)
    effects = stage.memory(1, 8, ticket=1)
    assert trims(effects) == {1: 2}
    assert isinstance(effects[-1], Answer)


def test_without_the_setting_there_is_none(stage: Stage) -> None:
    join(stage, 1, 4)
    join(stage, 2, 4, group="other")
    limit(stage, 3, 1, 2)
    assert over_limit(stage) == [1, 1]
    stage.change(swap_excess=False)
    assert over_limit(stage) == [0, 0]
    limit(stage, 2, 1, 2)
    stage.memory(1, 5)
    assert over_limit(stage) == [0, 0]
    stage.change(swap_excess=True)
    assert over_limit(stage) == [3, 2]


def test_what_an_old_journal_tells_stays_so() -> None:
    """It does not know the setting, and reports every excess."""
    stage = Stage()
    stage.join(1, 4)
    stage.core.handle(OverLimitChanged(now=stage.now, client=1, over_limit=2))
    stage.memory(1, 5)
    limit(stage, 1, 1)
    stage.change(turn_min=1.0)
    assert over_limit(stage) == [2]


def test_a_journal_tells_what_has_happened_and_all_that_follows(stage: Stage) -> None:
    join(stage, 1, 4)
    join(stage, 2, 4)
    limit(stage, 6, 1, 2)
    lines = list(stage.core.journal.lines())
    assert "OverLimitChanged" not in "".join(lines)
    assert '"Trim"' in lines[-1]
    assert replay(lines, check=True) == []


def test_memory_that_its_owner_copies_is_all_there_in_a_turn(stage: Stage) -> None:
    join(stage, 1, 4, kind=Kind.EXPLICIT)
    join(stage, 2, 4)
    limit(stage, 5, 1, 2)
    assert over_limit(stage) == [0, 0]
