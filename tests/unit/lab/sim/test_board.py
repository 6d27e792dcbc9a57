import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.lab.sim.board import Board

A, B = 1, 2


@pytest.fixture
def board() -> Board:
    """A card of 110 bytes with two programs, whose contexts take 5 each."""
    board = Board(110, 5)
    board.join(A)
    board.join(B)
    board.resize(A, 80)
    board.resize(B, 60)
    return board


def test_contexts_take_their_part(board: Board) -> None:
    assert board.capacity == board.room == 100


def test_what_is_allocated_takes_room_only_when_it_comes(board: Board) -> None:
    board.make(A, 30)
    holding = board.holdings[A]
    assert (holding.resident, holding.populated, holding.gap, board.room) == (30, 30, 50, 70)
    assert holding.missing == 0


def test_what_came_first_goes_first(board: Board) -> None:
    board.make(A, 30)
    board.make(B, 50)
    board.make(A, 40)
    assert (board.holdings[A].resident, board.holdings[B].resident) == (50, 50)
    assert board.holdings[A].missing == 20
    assert board.pushed_out == 20


def test_a_new_context_pushes_memory_out(board: Board) -> None:
    board.make(A, 80)
    board.make(B, 20)
    board.join(3)
    assert board.holdings[A].resident == 75
    assert board.room == 0


def test_who_had_everything_comes_to_the_gap_after_all_that_is_left(board: Board) -> None:
    board.make(A, 80)
    board.make(B, 40)
    assert board.holdings[A].ahead == board.holdings[A].resident == 60


def test_only_what_is_on_the_host_can_be_brought_back(board: Board) -> None:
    board.make(A, 60)
    board.leave(A, 25)
    assert board.bring(A, 70) == 25
    assert (board.holdings[A].resident, board.holdings[A].unborn) == (60, 20)


def test_leaving_frees_the_oldest(board: Board) -> None:
    board.make(A, 80)
    assert board.leave(A, 100) == 80
    assert board.leave(A, 1) == 0
    assert board.room == 100


def test_freeing_keeps_on_the_gpu_what_can_stay(board: Board) -> None:
    board.make(A, 80)
    board.leave(A, 50)
    board.resize(A, 40)
    assert board.holdings[A].resident == 30
    board.resize(A, 10)
    assert board.holdings[A].resident == 10


def test_an_end_gives_everything_back(board: Board) -> None:
    board.make(A, 80)
    board.part(A)
    assert board.room == 105


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["make", "bring", "leave", "resize"]),
            st.integers(0, 3),
            st.integers(0, 90),
        ),
        max_size=60,
    )
)
def test_sums_hold_whatever_happens(steps: list[tuple[str, int, int]]) -> None:
    board = Board(120, 5)
    for key in range(4):
        board.join(key)
    for what, key, size in steps:
        getattr(board, what)(key, size)
        holdings = board.holdings.values()
        assert board.resident == sum(holding.resident for holding in holdings) <= 100
        for holding in holdings:
            assert 0 <= holding.resident <= holding.populated <= holding.allocated
            assert 0 <= holding.ahead <= holding.resident


def test_what_the_driver_has_come_to_again_is_the_youngest() -> None:
    board = Board(10, 0)
    for key in (1, 2):
        board.join(key)
        board.resize(key, 8)
    board.make(1, 4)
    board.make(2, 4)
    board.touch(1)
    board.make(2, 4)
    assert (board.holdings[1].resident, board.holdings[2].resident) == (4, 6)


def test_what_leaves_and_comes_back_is_always_the_same(board: Board) -> None:
    board.make(A, 80)
    for size in (30, 20, 30):
        board.leave(A, size)
        assert board.holdings[A].kept == 30
        board.bring(A, size)
    assert board.holdings[A].kept == 30


def test_what_others_push_out_has_pages_besides(board: Board) -> None:
    board.make(A, 80)
    board.leave(A, 30)
    board.bring(A, 30)
    board.make(B, 40)
    assert (board.holdings[A].missing, board.holdings[A].kept) == (20, 50)
    board.make(B, 20)
    assert (board.holdings[A].missing, board.holdings[A].kept) == (40, 70)


def test_what_is_freed_takes_its_pages_along(board: Board) -> None:
    board.make(A, 80)
    board.leave(A, 30)
    board.bring(A, 10)
    board.resize(A, 70)
    assert board.holdings[A].kept == 20
    board.resize(A, 40)
    assert board.holdings[A].kept == 0
