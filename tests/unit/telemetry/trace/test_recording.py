"""Pieces, in any order, become what happened in an interval."""

from nvshare.telemetry.trace.items import Began, Ended, Gpu, Item, Level, Move, Program, Spent, Turn
from nvshare.telemetry.trace.recording import Recording, gather

HEAD: list[Item] = [Began(100, 0.0, "1"), Gpu("g", 0, "T4", 50), Program(1, "g", "p")]


def made(*items: Item) -> Recording:
    return gather([*HEAD, *items, Ended(200)])


def test_pieces_in_any_order_are_put_together() -> None:
    recording = made(Spent(1, "idle", 150, 200), Spent(1, "idle", 100, 150), Turn(1, 4, 100, 200))
    (life,) = recording.lives
    assert life.spent == [Spent(1, "idle", 100, 200)]
    assert life.turns == [Turn(1, 4, 100, 200)]


def test_turns_of_other_numbers_stay_apart_and_cut_what_goes_on() -> None:
    both = Turn(1, 4, 100, 150), Turn(1, 5, 150, 200)
    (life,) = made(Spent(1, "computing", 100, 200), *both).lives
    assert life.turns == list(both)
    assert life.spent == [Spent(1, "computing", 100, 150), Spent(1, "computing", 150, 200)]
    assert life.seconds("computing") == 100 / 1e9


def test_what_is_outside_is_left_out() -> None:
    (life,) = made(Spent(1, "idle", 90, 150), Move(1, 5, 0, 50, 120), Move(1, 5, 0, 1, 99)).lives
    assert life.spent == [Spent(1, "idle", 100, 150)]
    assert life.moves == [Move(1, 5, 0, 100, 120)]


def test_moves_come_one_after_the_other() -> None:
    moves = Move(1, 5, 0, 100, 120), Move(1, 5, 0, 110, 130)
    (life,) = made(Spent(1, "idle", 100, 200), *moves).lives
    assert [(move.begin, move.end) for move in life.moves] == [(100, 120), (120, 130)]


def test_one_that_was_broken_off_ends_with_what_is_known() -> None:
    recording = gather([*HEAD, Spent(1, "idle", 100, 170), Level("g", 160, 1, 2)])
    assert recording.end == 170


def test_who_is_not_heard_of_is_not_there() -> None:
    assert not made().lives
    assert not made(Spent(9, "idle", 100, 200)).lives
