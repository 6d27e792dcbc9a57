"""The limits of a program on a stage, as variables of its environment. Starts nothing."""

import secrets
from collections.abc import Mapping

from nvshare.core.settings import Limits, Priority
from nvshare.errors import BadInputError
from nvshare.sim.scenario import Scenario
from nvshare.wire import environment


def with_limits(limits: Limits, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program that has these limits, and with nobody together."""
    own = {**environ, environment.GROUP: secrets.token_hex(16)}
    if limits.compute_percent is not None:
        own[environment.GPU_CORE_LIMIT] = str(limits.compute_percent)
    if limits.burst:
        own[environment.GPU_BURST] = "1"
    if limits.priority is not Priority.NORMAL:
        own[environment.GPU_PRIORITY] = limits.priority.value
    return own


def check_speed(scenario: Scenario, speed: float) -> None:
    """Refuse what would be measured by one clock and kept by another."""
    if speed != 1 and any(program.compute is not None for program in scenario.program):
        raise BadInputError(
            f"the scenario {scenario.name} cannot be played at speed {speed:g}",
            why="it has shares of compute: what a program uses is measured in emulated time, and "
            "what its share is a share of is real time",
            do="say `speed = 1` in the scenario or --speed 1, or run it with --on simulator",
        )
