from rich.console import Console

from nvshare.cli.lab.bench.mix_table import BARS, short, table, within

SUMMARY = {
    "set": "unseen",
    "mixes": 100,
    "with_bursts": 90,
    "turn_changes": 5000,
    "wait_p50_to_bound": 1.4,
    "wait_p95_to_bound": 1.31,
    "delay_p95_to_bound": None,
    "equal_part_least": 0.81,
    "equal_part_p5": 0.97,
    "others_loss": 0.4,
    "mixes_from_0.95": 0.96,
    "mixes_from_0.8": 0.99,
    "beyond_floor_mean": 0.02,
    "beyond_floor_most": 0.2,
    "bursts": 7000,
    "served": 6900,
}


def test_bars_are_limits_that_may_be_reached() -> None:
    assert within(SUMMARY) == {
        "wait_p50_to_bound": True,
        "wait_p95_to_bound": False,
        "delay_p95_to_bound": None,
        "mixes_from_0.95": True,
        "mixes_from_0.8": False,
        "beyond_floor_mean": True,
    }


def test_a_table_has_a_row_for_each_bar() -> None:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table(SUMMARY))
    text = capture.get()
    assert all(bar.words in text for bar in BARS)
    for part in ("unseen: 100 mixes", "1.31", "≤ 1.30", "96.0 %", "≥ 95.0 %", "6900 of 7000"):
        assert part in text


def test_a_mix_is_one_line() -> None:
    line = {
        "mix": "design-3",
        "equal_part": 1.234,
        "others_loss": 0.5,
        "loss_floor": 0.47,
        "wait_p50_to_bound": 1.0,
        "wait_p95_to_bound": None,
        "delay_p95_to_bound": 2.0,
        "bursts": 12,
    }
    text = short(line)
    assert text.startswith("design-3: ")
    assert "1.00 / - / 2.00" in text
    assert "3.0 %, 12 bursts" in text
