import pytest

from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.record.moving import Moving


@pytest.mark.parametrize("state", State)
def test_only_those_who_run_or_give_way_hold_a_turn(state: State) -> None:
    assert Client(1, state=state).has_turn == (state in (State.RUNNING, State.YIELDING))


def test_what_was_ordered_out_does_not_stay() -> None:
    assert Client(1, memory=Memory(10, 2, 3), moving=Moving(4)).staying == 1
    assert Client(1, memory=Memory(10, 2, 3), moving=Moving(9)).staying == 0


def test_who_runs_is_taken_to_have_everything_in() -> None:
    assert Client(1, memory=Memory(10, 2, 3), state=State.RUNNING).staying == 8
