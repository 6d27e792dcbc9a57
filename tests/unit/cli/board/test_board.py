"""The board at three widths, line by line, against files that a person has looked at.

NVSHARE_WRITE_EXPECTED=1 writes them anew.
"""

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from nvshare.cli.board import Board
from nvshare.telemetry.snapshot import NodeStatus, Thrashing

from ...telemetry.making import GIB, make_client, make_gpu, make_node
from .staging import busy_node

EXPECTED = Path(__file__).parent / "expected"


def drawn(status: NodeStatus, width: int, encoding: str = "utf-8") -> str:
    page = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=page, width=width, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(Board(status))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_board_is_as_it_was(width: int) -> None:
    file = EXPECTED / f"{width}.txt"
    text = drawn(busy_node(), width)
    if os.environ.get("NVSHARE_WRITE_EXPECTED"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_names_are_whole_and_no_line_is_too_long(width: int) -> None:
    text = drawn(busy_node(), width)
    assert max(map(len, text.splitlines())) <= width
    for name in ("4711", "4712", "train1.py", "finetune_llama.py", "team/notebook: python"):
        assert name in text


def test_a_terminal_without_other_characters_gets_ascii() -> None:
    text = drawn(busy_node(), 200, "ascii")
    assert text.isascii()
    assert "[#######################~~~~~~~~~~~~~~~~~]" in text


def test_nobody_is_there() -> None:
    assert "No program is connected." in drawn(make_node(), 80)


def test_a_lost_gpu_says_so() -> None:
    gpu = make_gpu(lost_seconds=12.0)
    assert "GPU 0  Tesla T4  mode auto  turn auto  lost 12.0 s ago" in drawn(
        make_node(gpus=(gpu,)), 80
    )


def test_programs_of_one_name_are_told_apart_by_their_pid() -> None:
    clients = (make_client(), make_client(2, program="train1.py", state="waiting"))
    assert "turn: root/train1.py (pid 4711)  waiting: root/train1.py (pid 4712)" in drawn(
        make_node(*clients), 120
    )


def test_a_program_of_a_gpu_that_is_gone_is_shown() -> None:
    gpus = (make_gpu(), make_gpu(index=1, uuid="GPU-1"))
    text = drawn(make_node(make_client(device="gone"), gpus=gpus), 80)
    assert text.splitlines()[-1].startswith("?")


def test_what_has_only_a_mark_is_said_below() -> None:
    text = drawn(make_node(make_client(state="yielding", overdue=True, allocated=GIB)), 100)
    assert "yielding!" in text
    assert "1 (train1.py, pid 4711): overdue: it was told to give way and has not" in text
    parked = drawn(make_node(make_client(state="idle", parked="idle", parked_seconds=5.0)), 100)
    assert "parked for being idle 5.0 s ago" in parked


def test_a_gpu_whose_programs_page_against_each_other_says_so_instead_of_busy() -> None:
    found = Thrashing(seconds=12.0, programs=(1, 2), memory=24 * GIB, room=14 * GIB)
    clients = [make_client(number, thrashes=True, cannot_drain=number == 2) for number in (1, 2)]
    text = drawn(make_node(*clients, gpus=(make_gpu(thrashing=found),)), 200)
    words = " ".join(text.split())
    assert "turn auto  thrashing for 12.0 s  turn: root/train1.py, root/train2.py" in text
    assert "% busy" not in text
    assert " thrashing " in text
    assert " thrashing! " in text
    assert "GPU 0: thrashing: root/train1.py and root/train2.py page against each other" in text
    assert "`nvshare park 4711` takes one of them off the GPU" in words
