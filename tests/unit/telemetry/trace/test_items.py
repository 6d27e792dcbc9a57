from nvshare.telemetry.trace import items
from nvshare.telemetry.trace.items import Item, read_item, write_item

EVERY: list[Item] = [
    items.Began(5, 1.5, "1.0"),
    items.Gpu("GPU-0", 0, "T4", 10),
    items.Program(7, "GPU-0", "é\n", 99, "ann", "ns/pod"),
    items.Spent(7, "waiting", 1, 2),
    items.Turn(7, 3, 1, 2),
    items.Move(7, 0, 10, 1, 2),
    items.Level("GPU-0", 4, 5, 6),
    items.Ended(9, 2),
]


def test_a_line_is_the_item() -> None:
    for item in EVERY:
        line = write_item(item)
        assert line.count("\n") == 1
        assert read_item(line) == item


def test_what_is_not_known_here_is_left_out() -> None:
    assert read_item('["weather", "rain"]') is None
