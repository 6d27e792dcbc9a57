from nvshare.core.events import TimerKind

from ..stage import make_state


def test_turns_are_numbered_from_one() -> None:
    state = make_state()
    assert [state.number_turn() for _ in range(3)] == [1, 2, 3]


def test_a_copy_stays_as_it_was() -> None:
    state = make_state()
    twin = state.copy()
    state.alarms[TimerKind.TURN] = 5.0
    state.pace.measure(1 << 30, 1.0)
    state.number_turn()
    assert twin == make_state()
