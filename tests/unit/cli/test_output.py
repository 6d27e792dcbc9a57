"""Tables are whole, however little room there is."""

from io import StringIO

import pytest
from rich.console import Console

from nvshare.cli.output import Column, Rows, console


def drawn(table: Rows, width: int) -> str:
    file = StringIO()
    Console(width=width, file=file).print(table)
    return file.getvalue()


@pytest.fixture
def table() -> Rows:
    table = Rows("id", Column("pid", rank=2), Column("much", rank=3), "program", Column("x", 1))
    table.add_row("1", "4711", "a long text of no importance", "train.py", "yes")
    return table


def test_with_room_there_is_everything(table: Rows) -> None:
    text = drawn(table, 80)
    assert "a long text of no importance" in text
    assert "No room" not in text


def test_the_least_important_columns_go_first(table: Rows) -> None:
    text = drawn(table, 40)
    assert "No room for: much." in text
    assert all(word in text for word in ("1", "4711", "train.py", "yes"))
    text = drawn(table, 26)
    assert "No room for: pid, much." in " ".join(text.split())
    assert "yes" in text


@pytest.mark.parametrize("width", range(12, 90))
def test_what_has_to_stay_is_never_cut(table: Rows, width: int) -> None:
    text = drawn(table, width)
    assert max(map(len, text.splitlines())) <= width
    cells = [line.strip("│┃").split("│")[-1] for line in text.splitlines() if "│" in line]
    assert "…" not in text
    if width >= 20:
        assert "train.py" in text
    else:
        # It goes on in the next line.
        assert "".join(cell.strip() for cell in cells).startswith("train.py")


def test_a_file_has_no_edge(capsys: pytest.CaptureFixture[str]) -> None:
    table = Rows(*(Column(f"column {i}", i) for i in range(60)))
    table.add_row(*(f"cell number {i}" for i in range(60)))
    console().print(table)
    said = capsys.readouterr().out
    assert all(f"cell number {i}" in said for i in range(60))


def test_a_row_has_all_cells(table: Rows) -> None:
    with pytest.raises(ValueError, match="2 cells in a row of 5"):
        table.add_row("1", "2")
