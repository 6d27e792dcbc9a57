"""Monitors from PyPI, as they are, on an emulated node."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder

MakeNode = Callable[..., Node]
Guest = Callable[..., "subprocess.Popen[str]"]

MIB = 1024**2


def run(node: Node, program: str, *arguments: str) -> str:
    """Run a monitor on the node; it must find nothing missing in the library."""
    command = [str(Path(sys.executable).parent / program), *arguments]
    environment = {**os.environ, **node.environment(library_folder(), os.environ)}
    environment |= {"COLUMNS": "120", "LINES": "60", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    assert "nvshare emulator:" not in result.stderr
    return result.stdout


def test_gpustat_shows_gpus_and_processes(make_node: MakeNode, guest: Guest) -> None:
    node = make_node("2xt4")
    process = guest(node, gpu=1, plain_bytes=1000 * MIB)
    shown = json.loads(run(node, "gpustat", "--json"))
    assert [gpu["name"] for gpu in shown["gpus"]] == ["Tesla T4"] * 2
    assert [gpu["memory.total"] for gpu in shown["gpus"]] == [15360] * 2
    assert shown["gpus"][0]["processes"] == []
    [found] = shown["gpus"][1]["processes"]
    assert (found["pid"], found["gpu_memory_usage"]) == (process.pid, 1300)
    assert shown["gpus"][1]["memory.used"] - shown["gpus"][0]["memory.used"] == 1300


def test_nvitop_shows_gpus_and_processes(make_node: MakeNode, guest: Guest) -> None:
    node = make_node("2xt4")
    process = guest(node, gpu=1, plain_bytes=1000 * MIB)
    shown = run(node, "nvitop", "-1", "--no-unicode", "--colorful")
    assert shown.count("Tesla T4") == 2
    assert "15360MiB" in shown or "15.00GiB" in shown
    assert str(process.pid) in shown
    assert "1300MiB" in shown
