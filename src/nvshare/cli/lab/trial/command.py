"""A program of a scenario as a command line of the workloads. Starts nothing."""

from nvshare.errors import BadInputError
from nvshare.lab.emulator.workload import installed_program, workload_command
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.lab.sim.workload import phases_of

# As in lab/workloads/driver/phase.h.
_MOST_PHASES = 256


def command_of(program: Program, *, managed: bool, seed: int, memory: str = "plain") -> list[str]:
    """Return the command line. The program waits for the order to begin, with time and GPU.

    ``managed``: it allocates managed memory itself, as a program without nvshare would have to.
    ``memory``: how it allocates otherwise.
    """
    options = ["--held", "--startup", repr(program.startup), "--seed", str(seed)]
    options += ["--managed"] if managed else []
    if program.workload is not None:
        if program.iterations is not None:
            options += ["--iterations", str(program.iterations)]
        options += ["--allocate", memory] if memory != "plain" else []
        late = phases_of(program)[-1].idle_jitter
        return workload_command(program.workload, *options, "--late", repr(late))
    if memory != "plain":
        raise BadInputError(
            f"the program {program.name} has phases, and asks for memory by cuMemAlloc only",
            do="leave --memory out, or choose a scenario of pytorch-add programs",
        )
    phases = phases_of(program)
    if len(phases) > _MOST_PHASES:
        raise BadInputError(
            f"the program {program.name} has {len(phases)} phases",
            why=f"the emulator runs programs of at most {_MOST_PHASES} phases",
            do="repeat them less often, or run the scenario on the simulator",
        )
    command = [str(installed_program("workloads", "driver-phases")), *options]
    return command + [word for phase in phases for word in ("--phase", _fields(phase))]


def _fields(phase: Phase) -> str:
    fields = {
        "wait": phase.wait,
        "memory": phase.memory,
        "copy_in": phase.copy_in,
        "iterations": phase.iterations,
        "kernels": phase.kernels,
        "touch": phase.touch,
        "kernel_us": (phase.kernel_seconds or 0.0) * 1e6,
        "idle": phase.idle,
        "idle_jitter": phase.idle_jitter,
        "rate": phase.rate or 0.0,
    }
    return ",".join([f"{name}={value}" for name, value in fields.items()] + ["sync"] * phase.sync)
