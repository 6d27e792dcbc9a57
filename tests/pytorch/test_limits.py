"""A memory limit as PyTorch users meet it."""

import os
import subprocess
import sys

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder

from .conftest import HERE, SHARED, MakeNode, Start

pytestmark = pytest.mark.timeout(900)


def ask(process: "subprocess.Popen[str]", mebibytes: int) -> tuple[str, str]:
    """Let it allocate; return how it went, and what it then sees of the GPU's memory."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{mebibytes}\n")
    process.stdin.flush()
    return process.stdout.readline().strip(), process.stdout.readline().strip()


def set_limit(node: Node, pid: int, limit: str) -> None:
    environment = {**os.environ, **node.environment(library_folder(), os.environ)}
    command = [sys.executable, "-m", "nvshare", "limit", str(pid), "--memory", limit]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)


def test_a_second_tensor_over_the_limit(make_node: MakeNode, start: Start) -> None:
    node = make_node("1xt4")
    launcher = (*SHARED[:-1], "--memory", "1Gi", "--")
    process = start(node, HERE / "programs" / "limit.py", launcher=launcher)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"

    assert ask(process, 748) == ("allocated 748", "free 276 of 1024")
    refused, memory = ask(process, 748)
    assert refused.startswith("CUDA out of memory. Tried to allocate 748.00 MiB. ")
    assert "GPU 0 has a total capacity of 1024.00 MiB of which 276.00 MiB is free" in refused
    assert memory == "free 276 of 1024"
    # It lives on, and gets the available memory.
    assert ask(process, 200) == ("allocated 948", "free 76 of 1024")

    set_limit(node, process.pid, "2Gi")
    assert ask(process, 748) == ("allocated 1696", "free 352 of 2048")
    set_limit(node, process.pid, "none")
    assert ask(process, 4096)[0] == "allocated 5792"
