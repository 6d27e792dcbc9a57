"""The programs of a scenario played by PyTorch, with ``lab/workloads/pytorch``. Starts nothing."""

from dataclasses import dataclass
from math import gcd
from pathlib import Path

from nvshare.cli.lab.trial.ranks import Rank
from nvshare.errors import BadInputError
from nvshare.lab.emulator.workload import installed_program
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.lab.sim.workload import phases_of

SCRIPTS = {
    "pytorch-add": "pytorch_add.py",
    "pytorch-add-small": "pytorch_add_small.py",
    "pytorch-add-idle-small": "pytorch_add_idle_small.py",
}
# The configurations by which PyTorch's allocator uses one or another function of the driver.
_ALLOCATORS = {"handles": "expandable_segments:True", "pool": "backend:cudaMallocAsync"}
# PyTorch indexes with 32 bits: an operation on tensors of more bytes is launched in halves.
_MOST_BYTES = 1 << 31
_TENSORS = 3
# A block per operation: more of them would no longer be the kernel that the scenario means.
_MOST_BLOCKS = 64


@dataclass(frozen=True)
class TorchPrograms:
    """PyTorch programs. Their sleeps are real ones, so they have to know the speed.

    ``memory``: which of the driver's functions they allocate with.
    """

    python: Path
    speed: float
    memory: str = "plain"

    def command(
        self,
        program: Program,
        *,
        managed: bool,
        seed: int,  # noqa: ARG002
        rank: Rank | None = None,
    ) -> list[str]:
        """Return the command line. The seed is not used."""
        if rank is not None:
            raise BadInputError(
                "PyTorch programs cannot play ranks that meet on several GPUs",
                do="leave out --torch",
            )
        if managed:
            raise BadInputError(
                "PyTorch programs do not ask for unified memory themselves",
                do="leave out --unmanaged, or --torch",
            )
        held = [*self._python(), _script("held.py"), "--startup", repr(program.startup)]
        if program.workload is None:
            return [*held, _script("pytorch_phases.py"), *_phases(program)]
        options = []
        if program.iterations is not None:
            options += ["--iterations", str(program.iterations)]
        idle = phases_of(program)[-1].idle
        if idle:
            options += ["--sleep", repr(idle / self.speed)]
        return [*held, _script(SCRIPTS[program.workload]), *options]

    def _python(self) -> list[str]:
        allocator = _ALLOCATORS.get(self.memory)
        told = ["env", f"PYTORCH_ALLOC_CONF={allocator}"] if allocator else []
        return [*told, str(self.python)]

    def launched(self, program: Program) -> Program:
        """Return the program in phases, with an iteration's work in as many kernels as it takes."""
        if program.workload is None:
            block = _block(program)
            cut = [_in_kernels(phase, (phase.touch or 0) // block) for phase in phases_of(program)]
        else:
            cut = [_in_kernels(phase, _halves(phase)) for phase in phases_of(program)]
        changes = {"workload": None, "iterations": None, "repeat": 1, "phase": tuple(cut)}
        return program.model_copy(update=changes)


def _script(name: str) -> str:
    return str(installed_program("workloads/pytorch", name))


def _halves(phase: Phase) -> int:
    return 2 if (phase.touch or 0) / _TENSORS > _MOST_BYTES else 1


def _in_kernels(phase: Phase, count: int) -> Phase:
    return phase.model_copy(update={"kernels": count, "touch": (phase.touch or 0) // count})


def _block(program: Program) -> int:
    """Return a size of which all sizes of a program are multiples."""
    phases = phases_of(program)
    block = gcd(*(size or 0 for one in phases for size in (one.memory, one.copy_in, one.touch)))
    plain = Phase().model_dump()
    others = plain.keys() - {"memory", "copy_in", "iterations", "touch"}
    if any(getattr(phase, name) != plain[name] for phase in phases for name in others):
        why = "it does more than grow, copy and compute"
    elif block == 0 or max(phase.memory or 0 for phase in phases) > _MOST_BLOCKS * block:
        why = f"its sizes are not multiples of one size, up to {_MOST_BLOCKS} times"
    else:
        return block
    raise BadInputError(
        f"the program {program.name} cannot be played by PyTorch",
        why=why,
        do="leave out --torch",
    )


def _phases(program: Program) -> list[str]:
    words = ["--block", str(_block(program))]
    for phase in phases_of(program):
        sizes = f"memory={phase.memory},copy_in={phase.copy_in},touch={phase.touch}"
        words += ["--phase", f"{sizes},iterations={phase.iterations}"]
    return words
