"""The programs that play a scenario: by default the driver-API workloads."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from nvshare.cli.lab.trial.command import command_of
from nvshare.cli.lab.trial.ranks import Rank, launched_ranks, rank_command
from nvshare.lab.sim.scenario import Program


class Programs(Hashable, Protocol):
    """Programs that do what a scenario says."""

    def command(
        self, program: Program, *, managed: bool, seed: int, rank: Rank | None = None
    ) -> list[str]:
        """Return the command line. The program waits for the order to begin, with time and GPU."""

    def launched(self, program: Program) -> Program:
        """Return the program as the GPU will count its kernels."""


@dataclass(frozen=True)
class DriverPrograms:
    """The workloads of ``lab/workloads/driver``: every kernel of a scenario is one launch.

    ``memory``: which of the driver's functions they allocate with.
    """

    memory: str = "plain"

    def command(
        self, program: Program, *, managed: bool, seed: int, rank: Rank | None = None
    ) -> list[str]:
        """Return the command line of a workload, of a program with phases, or of a rank."""
        if rank is not None:
            return rank_command(program, rank, managed=managed)
        return command_of(program, managed=managed, seed=seed, memory=self.memory)

    def launched(self, program: Program) -> Program:
        """Return the program itself, or with the additional kernels of its ranks."""
        return launched_ranks(program) if program.ranks else program


DRIVER = DriverPrograms()
