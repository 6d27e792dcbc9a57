"""driver-ranks: ranks that meet in every iteration, in one process and in several."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program

ALL = ("--ranks", "2", "--iterations", "20", "--kernel", "0.001", "--memory", "65536")


@pytest.fixture
def node() -> Iterator[Node]:
    with transient_node(node_root(), Settings(), parse_gpus("2xtiny")) as made:
        yield made


def start(node: Node, *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [str(installed_program("workloads", "driver-ranks")), *ALL, *options],
        env={**os.environ, **node.environment(library_folder(), os.environ)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: "subprocess.Popen[str]") -> dict[str, Any]:
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    return dict(json.loads(said))


@pytest.mark.parametrize("options", [(), ("--threads",), ("--sync",), ("--managed",)])
def test_ranks_in_one_process(node: Node, options: tuple[str, ...]) -> None:
    told = result(start(node, *options))
    assert (told["iterations"], told["wrong"]) == (20, 0)


def test_a_rank_waits_for_the_others(node: Node, tmp_path: Path) -> None:
    meet = tmp_path / "meet"
    with ExitStack() as stack:
        first = start(node, "--rank", "0", "--meet", str(meet))
        stack.callback(first.kill)
        with pytest.raises(subprocess.TimeoutExpired):
            first.wait(0.5)
        other = start(node, "--rank", "1", "--meet", str(meet), "--device", "1")
        assert [result(first)["wrong"], result(other)["wrong"]] == [0, 0]
    words = memoryview(meet.read_bytes()).cast("Q")
    assert list(words[:2]) == [20, 20]


@pytest.mark.parametrize("options", [("--rank", "0"), ("--rank", "2", "--meet", "x"), ("--no",)])
def test_options_that_make_no_sense(node: Node, options: tuple[str, ...]) -> None:
    process = start(node, *options)
    assert "usage:" in process.communicate(timeout=60)[1]
    assert process.returncode == 2
