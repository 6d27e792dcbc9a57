"""The ranks of a program that uses several GPUs, as command lines. Starts nothing."""

from pathlib import Path
from typing import NamedTuple

from nvshare.errors import BadInputError
from nvshare.lab.emulator.workload import installed_program
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.lab.sim.workload import phases_of


class Rank(NamedTuple):
    """The number of a rank, and the file by which all ranks synchronise."""

    number: int
    meet: Path


def rank_command(program: Program, rank: Rank, *, managed: bool) -> list[str]:
    """Return the command line of one rank."""
    phase = _only_phase(program)
    command = [str(installed_program("workloads", "driver-ranks")), "--held"]
    command += ["--startup", repr(program.startup)]
    command += ["--ranks", str(len(program.ranks)), "--rank", str(rank.number)]
    command += ["--meet", str(rank.meet), "--memory", str(phase.memory)]
    command += ["--iterations", str(phase.iterations), "--kernels", str(phase.kernels)]
    command += ["--kernel", repr(phase.kernel_seconds)]
    command += ["--sync"] if phase.sync else []
    return command + (["--managed"] if managed else [])


def launched_ranks(program: Program) -> Program:
    """Return the program with the kernel by which ranks meet: the GPU counts it as well."""
    phase = _only_phase(program)
    kernels = phase.kernels + 1
    seconds = (phase.kernel_seconds or 0.0) * phase.kernels / kernels
    counted = phase.model_copy(update={"kernels": kernels, "kernel_seconds": seconds})
    return program.model_copy(update={"phase": (counted,)})


def _only_phase(program: Program) -> Phase:
    phases = phases_of(program)
    if len(phases) == 1 and phases[0].kernel_seconds and not _does_more(phases[0]):
        return phases[0]
    raise BadInputError(
        f"the ranks of the program {program.name} cannot be played on the emulator",
        why="there, ranks have one phase, with memory, iterations, kernels and kernel_seconds",
        do="give the program one such phase, or run the scenario on the simulator",
    )


def _does_more(phase: Phase) -> bool:
    rests = phase.wait or phase.idle or phase.idle_jitter or phase.rate is not None
    return bool(rests or phase.copy_in or phase.touch != phase.memory)
