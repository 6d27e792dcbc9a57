"""Who plays the programs of a scenario: by default the driver-API workloads."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from nvshare.cli.trial.command import command_of
from nvshare.sim.scenario import Program


class Cast(Hashable, Protocol):
    """Programs that do what a scenario says."""

    def command(self, program: Program, *, managed: bool, seed: int) -> list[str]:
        """Return what to execute. It waits to be told when to begin, and on which GPU."""

    def launched(self, program: Program) -> Program:
        """Return the program as the GPU will count its kernels."""


@dataclass(frozen=True)
class DriverCast:
    """The workloads of ``workloads/driver``: every kernel of a scenario is one launch.

    ``memory``: by which of the driver's functions they ask for memory.
    """

    memory: str = "plain"

    def command(self, program: Program, *, managed: bool, seed: int) -> list[str]:
        """Return the command line of a workload, or of a program with phases."""
        return command_of(program, managed=managed, seed=seed, memory=self.memory)

    def launched(self, program: Program) -> Program:
        """Return the program itself."""
        return program


DRIVER = DriverCast()
