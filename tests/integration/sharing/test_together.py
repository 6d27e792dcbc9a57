"""Programs that fit together lose nothing under nvshare, and no memory moves."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.cli.control import Daemon
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import Node
from nvshare.launch.place import control_socket
from nvshare.telemetry.snapshot import NodeStatus

from ..rates import rates

MakeNode = Callable[..., Node]
UNDER_NVSHARE = (sys.executable, "-m", "nvshare", "run", "--")
FOUR = (0, 0, 0, 0)


def test_four_compute_bound_programs_take_no_turns_for_memory_and_lose_nothing(
    make_node: MakeNode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Short turns of 1 s in emulated time, as they are by default.
    config = tmp_path / "config.toml"
    config.write_text("[gpu]\nslice_seconds = 0.05\n")
    monkeypatch.setenv("NVSHARE_CONFIG", str(config))
    node = make_node("t4", speed=20, data="off")
    environment = {**os.environ, **node.environment(library_folder(), {})}
    seen: list[NodeStatus] = []

    def look() -> None:
        seen.append(Daemon(control_socket(environment)).status())

    without = rates(node, *FOUR)
    shared = rates(node, *FOUR, prefix=UNDER_NVSHARE, look=look)
    for rate in shared:
        assert rate >= 0.97 * sum(without) / len(FOUR)
    (status,) = seen
    assert status.devices[0].turn_changes == 0
    assert all(client.moved_out == client.moved_in == 0 for client in status.clients)
