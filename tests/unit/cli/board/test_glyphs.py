import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.cli.board.glyphs import ASCII, UNICODE, curve, split_cells


def test_a_curve_shows_the_newest_and_whatever_is_more_than_nothing() -> None:
    assert curve((100, 0, 1, 50, 100), 4, UNICODE) == " ▁▄█"
    assert curve((50,), 3, ASCII) == "  ="


@pytest.mark.parametrize(
    ("sizes", "cells", "found"),
    [([1, 1], 4, [2, 2]), ([1000, 1, 0], 10, [9, 1, 0]), ([0, 0], 5, [0, 0]), ([3], 0, [0])],
)
def test_cells_are_divided_in_proportion(sizes: list[int], cells: int, found: list[int]) -> None:
    assert split_cells(sizes, cells) == found


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=4), st.integers(4, 80))
def test_no_cell_is_lost_and_nobody_is_left_out(sizes: list[int], cells: int) -> None:
    found = split_cells(sizes, cells)
    assert sum(found) == (cells if any(sizes) else 0)
    assert all((cell > 0) == (size > 0) for cell, size in zip(found, sizes, strict=True))
