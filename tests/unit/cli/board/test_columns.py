from nvshare.cli.board.columns import Column, fitting

COLUMNS = [Column("a"), Column("less", rank=1), Column("least", rank=2)]
ROWS = [["12345", "1", "1"]]


def test_what_matters_least_goes_first_and_nothing_is_cut() -> None:
    assert fitting(COLUMNS, ROWS, 18) == ([0, 1, 2], 2)
    assert fitting(COLUMNS, ROWS, 17) == ([0, 1, 2], 1)
    assert fitting(COLUMNS, ROWS, 15) == ([0, 1], 2)
    assert fitting(COLUMNS, ROWS, 9) == ([0], 2)
    assert fitting(COLUMNS, ROWS, 3) == ([0], 2)
