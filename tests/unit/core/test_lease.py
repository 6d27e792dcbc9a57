import re
from pathlib import Path

import pytest

from nvshare.core.lease import TRANSITIONS, IllegalTransition, State, Step, next_state

DOC = Path(__file__).parents[3] / "docs" / "rules.md"


def test_a_step_in_the_table_leads_where_the_table_says() -> None:
    assert next_state(7, State.WAITING, Step.GRANT) is State.RUNNING


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("step", Step)
def test_every_other_step_is_illegal(state: State, step: Step) -> None:
    if (state, step) in TRANSITIONS:
        assert next_state(7, state, step) is TRANSITIONS[state, step]
    else:
        with pytest.raises(IllegalTransition):
            next_state(7, state, step)


def test_an_illegal_step_says_whose_it_was_and_what_led_to_it() -> None:
    error = IllegalTransition(7, State.IDLE, "revoke")
    error.journal = ['{"event": 1}', '{"event": 2}']
    assert str(error) == (
        'client 7 is idle, which does not allow: revoke\n  {"event": 1}\n  {"event": 2}'
    )


@pytest.mark.parametrize("state", [state for state in State if state is not State.GONE])
def test_whoever_is_there_can_leave_at_any_time(state: State) -> None:
    assert next_state(7, state, Step.LEAVE) is State.GONE


def test_nobody_gets_a_turn_before_the_last_one_was_released() -> None:
    assert (State.RUNNING, Step.GRANT) not in TRANSITIONS
    assert (State.YIELDING, Step.GRANT) not in TRANSITIONS


def test_the_table_in_the_documentation_is_this_table() -> None:
    text = DOC.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)` \| ([a-z ]+) \| `([a-z]+)` \|", text, re.MULTILINE)
    assert {(State(a), Step(b)): State(c) for a, b, c in rows} == TRANSITIONS
    assert len(rows) == len(TRANSITIONS)
