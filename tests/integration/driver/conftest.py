"""Test bodies that run in a process of their own, on an emulated node that ends with them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nvshare.emulator.conf import Data, Settings
from nvshare.emulator.gpus import parse_gpus
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.root import node_root
from nvshare.emulator.transient import transient_node

INSIDE = Path(__file__).parent / "inside.py"

Body = Callable[[Any], None]
Emulated = Callable[..., str]


def run(
    body: Body,
    *,
    gpus: str = "tiny",
    speed: float = 1000.0,
    data: Data = "on",
    model: bool = True,
    visible: str | None = None,
) -> str:
    """Run ``body(cu)`` on a node; see inside.py for what ``cu`` is. Returns what it printed."""
    settings = Settings(speed=speed, data=data)
    with transient_node(node_root(), settings, parse_gpus(gpus)) as node:
        environment = dict(os.environ)
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        environment.update(node.environment(library_folder(), os.environ))
        environment["NVSHARE_EMULATOR_MODEL"] = "on" if model else "off"
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        code = body.__code__
        result = subprocess.run(
            [sys.executable, str(INSIDE), code.co_filename, code.co_name],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return result.stdout + result.stderr


@pytest.fixture(scope="session")
def emulated() -> Emulated:
    """Run a function of a test module on an emulated node; an exception in it fails the test."""
    return run
