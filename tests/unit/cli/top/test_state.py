"""The effect of keys."""

import pytest

from nvshare.cli.top.state import OWN_KEYS, SORTS, Change, State
from nvshare.limits.table import LIMITS

from ...telemetry.making import GIB, make_client, make_gpu, make_node

NODE = make_node(
    make_client(1, device="GPU-1", allocated=GIB, used_percent={10: 5.0}),
    make_client(2, allocated=3 * GIB, program="serve", parts={"waiting": 30.0}),
    make_client(3, allocated=2 * GIB, swapped_out=GIB, used_percent={10: 90.0}, pid=7),
    gpus=(make_gpu(), make_gpu(index=1, uuid="GPU-1")),
)


def press(state: State, *pressed: str) -> Change | None:
    found = None
    for key in pressed:
        found = state.press(key, state.shown(NODE))
    return found


def shown(state: State) -> list[int]:
    return [one.id for one in state.shown(NODE)]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("GPU", [2, 3, 1]),
        ("GPU %", [3, 1, 2]),
        ("memory", [2, 3, 1]),
        ("away", [3, 2, 1]),
        ("wait", [2, 3, 1]),
        ("user", [2, 3, 1]),
        ("program", [2, 1, 3]),
        ("pid", [3, 1, 2]),
    ],
)
def test_programs_are_sorted(sort: str, order: list[int]) -> None:
    assert shown(State(sort=sort)) == order
    assert shown(State(sort=sort, is_reversed=True)) == order[::-1]


def test_a_key_goes_through_all_orders() -> None:
    state, seen = State(), []
    for _ in SORTS:
        seen.append(state.sort)
        press(state, "s")
    assert seen == list(SORTS)
    assert state.sort == "GPU"
    press(state, "r")
    assert state.is_reversed


def test_one_is_selected_and_stays_so() -> None:
    state = State()
    assert shown(state)[0] == state.selected == 2
    press(state, "down", "j", "down")
    assert state.selected == 1
    press(state, "up")
    assert state.selected == 3
    press(state, "s")
    assert state.selected == 3
    # A program that has ended cannot be selected.
    state.selected = 99
    shown(state)
    assert state.selected == 3


def test_a_filter_holds_while_it_is_typed_until_escape() -> None:
    state = State()
    press(state, "/", "S", "e", "r", "v", "x", "backspace")
    assert shown(state) == [2]
    press(state, "enter")
    assert (state.filter, state.prompt, state.selected) == ("Serv", None, 2)
    press(state, "/", "escape")
    assert shown(state) == [2, 3, 1]
    assert shown(State(filter="nobody")) == []
    assert shown(State(filter="wait")) == []
    assert shown(State(filter="4712")) == [2]


@pytest.mark.parametrize(
    ("key", "typed", "changes"),
    [
        ("m", "6Gi", {"memory_limit": "6Gi"}),
        ("c", "40", {"compute_percent": "40"}),
        ("c", "none", {"compute_percent": None}),
        ("p", "high", {"priority": "high"}),
    ],
)
def test_limits_of_the_one_that_is_selected_are_asked_for(
    key: str, typed: str, changes: dict[str, str | None]
) -> None:
    state = State()
    press(state, "down", key)
    assert state.prompt is not None
    assert "(pid 7)" in state.prompt.question
    assert press(state, *typed, "enter") == Change(7, changes)
    assert state.prompt is None


@pytest.mark.parametrize("end", ["escape", "enter", "quit"])
def test_nothing_typed_changes_nothing(end: str) -> None:
    state = State()
    assert press(state, "m", end) is None
    assert state.prompt is None
    assert not state.is_over


def test_details_help_and_the_end() -> None:
    state = State(message="said once")
    press(state, "enter", "h")
    assert (state.shows_details, state.shows_help, state.message) == (True, True, "")
    press(state, "escape")
    assert (state.shows_details, state.shows_help, state.is_over) == (False, False, False)
    press(state, "x", "q")
    assert state.is_over


def test_no_key_has_two_meanings() -> None:
    assert not set(OWN_KEYS) & {one.key for one in LIMITS}
