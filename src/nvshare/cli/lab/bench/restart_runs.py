"""Runs programs across a restart of the daemon, for ``nvshare bench restart``. Prints nothing."""

import contextlib
import signal
import time
from dataclasses import dataclass
from math import inf

from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.limits import own_group, with_limits
from nvshare.cli.lab.trial.ranks import Rank, rank_command
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.core.settings import NO_LIMITS
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.launch.preload import Wishes
from nvshare.settings import DeviceSettings
from nvshare.wire import environment

MODEL = "t4"
SIGNALS = {"term": signal.SIGTERM, "kill": signal.SIGKILL}
KINDS = ("managed", "explicit")
# As in the run in which it was first seen that programs do not recover: 46 s of computing each.
ITERATIONS = 1200
AFTER_S = 35.0
_LOOK_S = 0.01
# What an iteration of pytorch-add uses and takes on a T4. A rank does the same.
_RANK_BYTES, _RANK_SECONDS = 12_544_000_000, 0.0385


@dataclass(frozen=True)
class Case:
    """A restart: programs, seconds without a daemon, how that ended, and how memory moves."""

    programs: int = 2
    gap: float = 0.5
    by: str = "term"
    kind: str = "managed"
    iterations: int = ITERATIONS
    # Emulated seconds from the beginning to the end of the daemon.
    after: float = AFTER_S
    speed: float = 1.0
    # Real seconds for which programs without a turn wait for the next daemon; None: as usual.
    wait: float | None = None
    # The processes of each program, on as many GPUs, which meet after every kernel.
    ranks: int = 1

    @property
    def undisturbed(self) -> tuple[int, int, str, int, float]:
        """What a run without a restart depends on."""
        return self.programs, self.ranks, self.kind, self.iterations, self.speed


@dataclass(frozen=True)
class Run:
    """How long the programs took, in emulated seconds."""

    seconds: float
    faults: int
    # Processes that had not ended when they were given up.
    unended: int


def run(case: Case, patience: float | None = None) -> Run:
    """Let the programs compute; with a patience, in emulated seconds, the daemon restarts."""
    with contextlib.ExitStack() as stack:
        wishes = Wishes(allocation="explicit" if case.kind == "explicit" else "managed")
        gpus = parse_gpus(f"{case.ranks}x{MODEL}")
        settings = [DeviceSettings()] * case.ranks
        stage = stack.enter_context(open_stage(gpus, case.speed, settings, wishes=wishes))
        programs = [_start(stage, case, number, stack) for number in range(case.programs)]
        actors = [actor for ranks in programs for actor in ranks]
        began = time.monotonic()
        for ranks in programs:
            for gpu, actor in enumerate(ranks):
                actor.begin(gpu, began)
        if patience is not None:
            _restart(stage, case, began)
        until = inf if patience is None else began + patience / case.speed
        while not all(actor.has_ended for actor in actors) and time.monotonic() < until:
            time.sleep(_LOOK_S)
        seconds = (time.monotonic() - began) * case.speed
        ended = [actor for actor in actors if actor.has_ended]
        for actor in ended:
            actor.ending()
        faults = sum(gpu.faults for gpu in read_report(stage.node.folder).gpus)
        return Run(seconds, faults, len(actors) - len(ended))


def _restart(stage: Stage, case: Case, began: float) -> None:
    time.sleep(max(0.0, began + case.after / case.speed - time.monotonic()))
    stage.end_daemon(SIGNALS[case.by])
    time.sleep(case.gap)
    stage.start_daemon()


def _start(stage: Stage, case: Case, number: int, stack: contextlib.ExitStack) -> list[Actor]:
    """Start the processes of one program."""
    waits = {} if case.wait is None else {environment.RESTART_WAIT: f"{case.wait:g}"}
    environ, actors = with_limits(NO_LIMITS, {**stage.environ, **waits}, own_group()), []
    for command in _commands(stage, case, number):
        actor = Actor(command, environ)
        stack.callback(actor.stop)
        actor.wait_until_ready()
        actors.append(actor)
    return actors


def _commands(stage: Stage, case: Case, number: int) -> list[list[str]]:
    if case.ranks == 1:
        return [workload_command("pytorch-add", "--held", "--iterations", str(case.iterations))]
    phase = Phase(memory=_RANK_BYTES, iterations=case.iterations, kernel_seconds=_RANK_SECONDS)
    gang = Program(name="gang", ranks=tuple(range(case.ranks)), phase=(phase,))
    meet = stage.node.folder / f"meet-{number}"
    return [rank_command(gang, Rank(rank, meet), managed=False) for rank in gang.ranks]
