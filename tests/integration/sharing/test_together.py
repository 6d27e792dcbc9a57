"""Programs that fit together run together under nvshare, as if it were not there."""

import os
import sys
from collections.abc import Callable

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


def test_four_compute_bound_programs_are_never_switched_and_lose_nothing(
    make_node: MakeNode,
) -> None:
    node = make_node("t4", speed=20, data="off")
    environment = {**os.environ, **node.environment(library_folder(), {})}
    seen: list[NodeStatus] = []

    def look() -> None:
        seen.append(Daemon(control_socket(environment)).status())

    without = rates(node, *FOUR)
    shared = rates(node, *FOUR, prefix=UNDER_NVSHARE, look=look)
    assert sum(shared) >= 0.97 * sum(without)
    for rate in shared:
        assert rate == pytest.approx(sum(shared) / len(FOUR), rel=0.03)
    (status,) = seen
    assert (status.devices[0].turn_changes, status.devices[0].handovers) == (0, 0)
    assert [client.turns for client in status.clients] == [1] * len(FOUR)
    assert all(client.moved_out == client.moved_in == 0 for client in status.clients)
