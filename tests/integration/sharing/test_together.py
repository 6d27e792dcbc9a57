"""Programs that fit together lose nothing under nvshare, and no memory moves."""

import os
import sys
from collections.abc import Callable

import pytest

from nvshare.cli.control import Daemon
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.launch.place import control_socket

from ..rates import rates

pytestmark = pytest.mark.timed

MakeNode = Callable[..., Node]
UNDER_NVSHARE = (sys.executable, "-m", "nvshare", "run", "--")
FOUR = (0, 0, 0, 0)

# A busy machine delays a program now and then; nvshare would delay it in every attempt.
ATTEMPTS = 3


def lose_nothing(without: list[float], shared: list[float]) -> bool:
    """Whether four programs progress as without nvshare, and none of them at another's cost.

    Together they must not be slower at all, since their slices spare the GPU its own switching. For
    each the bound is rough, since one may have had a turn more than another in the measured time.
    """
    part = sum(without) / len(FOUR)
    return sum(shared) >= sum(without) and min(shared) >= 0.7 * part


def test_four_compute_bound_programs_take_no_turns_for_memory_and_lose_nothing(
    make_node: MakeNode,
) -> None:
    node = make_node("t4", speed=20, data="off")
    environment = {**os.environ, **node.environment(library_folder(), {})}

    def look() -> None:
        status = Daemon(control_socket(environment)).status()
        assert status.devices[0].turn_changes == 0
        assert all(client.moved_out == client.moved_in == 0 for client in status.clients)

    def attempt() -> tuple[list[float], list[float]]:
        return rates(node, *FOUR), rates(node, *FOUR, prefix=UNDER_NVSHARE, look=look)

    measured = [attempt()]
    while not lose_nothing(*measured[-1]) and len(measured) < ATTEMPTS:
        measured.append(attempt())
    assert lose_nothing(*measured[-1]), measured
