"""Screens of several sizes: everything that matters is on them, and they are never too large."""

import io

import pytest
from rich.console import Console

from nvshare.cli.top.frame import frame, window
from nvshare.cli.top.state import Prompt, State

from ...telemetry.making import make_client, make_node
from ..board.staging import busy_node

MANY = make_node(*(make_client(number) for number in range(1, 101)))


def paper(width: int = 80, height: int = 24) -> Console:
    page = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    return Console(
        file=page,
        width=width,
        height=height,
        force_terminal=True,
        color_system=None,
        highlight=False,
    )


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("height", [10, 24, 60])
@pytest.mark.parametrize("details", [False, True])
def test_a_frame_is_as_large_as_the_screen(width: int, height: int, details: bool) -> None:
    for status in (busy_node(), MANY, make_node()):
        lines = frame(status, State(shows_details=details), paper(width, height))
        assert len(lines) == height
        assert max(map(len, lines)) <= width


def test_gpus_programs_and_keys_are_there_at_80_by_24() -> None:
    lines = frame(busy_node(), State(), paper())
    text = "\n".join(lines)
    for words in ("GPU 0  92 % busy", "20 s left", "finetune_llama.py", "team/notebook: python"):
        assert words in text
    assert lines[-1].startswith("3 programs by GPU  h keys  q quit")


def test_details_say_what_the_time_went_to_and_why() -> None:
    text = "\n".join(frame(busy_node(), State(shows_details=True, selected=2), paper(80, 40)))
    assert "waiting           50 %" in text
    assert "of 1 h 6 min" in text
    assert "4242424242/finetune_llama.py (pid 4712) on GPU 0" in text


def test_who_is_selected_is_always_on_the_screen() -> None:
    for selected in (1, 50, 100):
        text = "\n".join(frame(MANY, State(selected=selected), paper()))
        assert f"train{selected}.py" in text
    assert [one.id for one in window(MANY.clients, 50, 5)] == [48, 49, 50, 51, 52]
    assert [one.id for one in window(MANY.clients, 100, 5)] == [96, 97, 98, 99, 100]
    assert [one.id for one in window(MANY.clients, None, 2)] == [1, 2]


def test_the_last_line_asks_tells_and_helps() -> None:
    asks = State(prompt=Prompt("Memory limit", "memory_limit", 1, "6G"))
    assert frame(MANY, asks, paper())[-1] == "Memory limit: 6G_"
    assert frame(MANY, State(message="that is no size"), paper())[-1] == "that is no size"
    assert "q quit" in frame(MANY, State(shows_help=True), paper())[-1]
    filtered = frame(MANY, State(filter="xyz", sort="pid", is_reversed=True), paper())
    assert filtered[-1].startswith("0 programs by pid, reversed  only: xyz")
    assert "No program passes the filter." in filtered
