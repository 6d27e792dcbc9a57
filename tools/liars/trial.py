"""One liar beside honest programs: started, watched, measured by the emulated GPU's own counts."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes, library, program_environment
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.wire import environment
from tests.integration.daemon.conftest import Daemon

ROOT = Path(__file__).parents[2]
# Four arrays of 2,992 MiB each; the programs are killed long before these iterations are done.
_PROGRAM = workload_command("pytorch-add", "--iterations", "100000000")
_PATIENCE = 120.0
# Figures of before and after cover this many turns of each program.
_ROUNDS = 4


@dataclass(frozen=True)
class Plan:
    """How many programs, and for how long. In seconds of the machine."""

    honest: int = 2
    seconds: float = 300.0
    turn: float = 10.0
    speed: float = 1.0

    @property
    def calm(self) -> float:
        """How long the measurements before and after take."""
        return _ROUNDS * self.honest * self.turn


@dataclass(frozen=True)
class Figures:
    """Of each honest program: its part of the GPU before; then what it has kept of its fair part.

    Beside a liar, the fair part is what it would have if the liar were one more honest program.
    Afterwards, it is what it had before.
    """

    liar: str
    seconds: float
    turn: float
    speed: float
    parts_before: list[float]
    kept_beside: list[float]
    kept_after: list[float]
    reports: int

    @property
    def beside(self) -> float:
        """The least that any has kept beside the liar."""
        return min(self.kept_beside)

    @property
    def after(self) -> float:
        """The least that any has again, two turns after the liar."""
        return min(self.kept_after)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Trial:
    """A node with a daemon and honest programs."""

    def __init__(self, node: Node, daemon: Daemon, plan: Plan, stack: ExitStack) -> None:
        self._node = node
        self._daemon = daemon
        self._stack = stack
        # Waiting is what is measured, so no notices about it.
        base = {**daemon.environ, environment.WAIT_NOTICE: "0"}
        own = program_environment(Wishes(), daemon.folder, library(), base)
        self._programs = [
            self._start(_PROGRAM, {**base, **own}, stdout=subprocess.DEVNULL)
            for _ in range(plan.honest)
        ]

    def lie(self, kind: str) -> "subprocess.Popen[str]":
        """Start a liar, and wait until it has begun."""
        (gpu,) = self._daemon.gpus
        command = [sys.executable, "-m", "tools.liars.kinds", str(self._daemon.folder), gpu, kind]
        liar = self._start(command, {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE)
        if liar.stdout is None or liar.stdout.readline() != "begun\n":
            raise RuntimeError(f"the liar {kind} did not start")
        return liar

    def parts(self, seconds: float) -> list[float]:
        """Return the part of the GPU's time that each program computes, over this many seconds."""
        before, begin = self._computed(), self._clock()
        time.sleep(seconds)
        after, end = self._computed(), self._clock()
        return [(b - a) / (end - begin) for a, b in zip(before, after, strict=True)]

    def turns(self) -> list[int]:
        """Return how many turns each program has had."""
        turns = {one.pid: one.turns for one in self._daemon.control.status().clients}
        return [turns.get(one.pid, 0) for one in self._programs]

    def until(self, is_so: Callable[[NodeStatus], bool]) -> None:
        """Wait until a condition on the daemon's snapshot holds."""
        deadline = time.monotonic() + _PATIENCE
        while not is_so(self._daemon.control.status()):
            if time.monotonic() > deadline:
                raise TimeoutError("the programs do not get their turns")
            time.sleep(0.05)

    def until_all_have_had(self, turns: Sequence[int]) -> None:
        """Wait until each program has had this many turns."""
        self.until(lambda _: all(had >= due for had, due in zip(self.turns(), turns, strict=True)))

    @property
    def reports(self) -> int:
        """How often the daemon has logged a false claim, or a client that does not give way."""
        words = ("claims memory", "says again that it holds", "has not given", "without it")
        return sum(any(word in line for word in words) for line in self._daemon.log.splitlines())

    def _computed(self) -> list[int]:
        report = read_report(self._node.folder)
        found = [report.process(one.pid) for one in self._programs]
        return [one.gpus[0].compute_ns if one else 0 for one in found]

    def _clock(self) -> int:
        return read_report(self._node.folder).clock_ns

    def _start(
        self, command: Sequence[str], environ: dict[str, str], stdout: int
    ) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=stdout, text=True, cwd="/"
        )
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        return process


@contextmanager
def staged(plan: Plan) -> Iterator[Trial]:
    """Make a node, a daemon and programs that take turns. Everything is removed afterwards."""
    settings = Settings(speed=plan.speed, data="off")
    with (
        transient_node(node_root(), settings, parse_gpus("t4")) as node,
        tempfile.TemporaryDirectory(prefix="nvshare-") as folder,
        ExitStack() as stack,
    ):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
        environ = {**inherited, **node.environment(library_folder(), inherited)}
        daemon = Daemon(Path(folder) / "d", environ, (f"--turn={plan.turn}",))
        daemon.start()
        stack.callback(daemon.stop)
        trial = Trial(node, daemon, plan, stack)
        trial.until_all_have_had([2] * plan.honest)
        yield trial


def play(kind: str, plan: Plan) -> Figures:
    """Measure before, beside and after a liar of a kind."""
    with staged(plan) as trial:
        before = trial.parts(plan.calm)
        liar = trial.lie(kind)
        beside = trial.parts(plan.seconds)
        liar.kill()
        liar.wait()
        time.sleep(2 * plan.turn)
        after = trial.parts(plan.calm)
        rest = plan.honest / (plan.honest + 1)
        return Figures(
            kind,
            plan.seconds,
            plan.turn,
            plan.speed,
            [round(one, 3) for one in before],
            [round(now / (part * rest), 3) for now, part in zip(beside, before, strict=True)],
            [round(now / part, 3) for now, part in zip(after, before, strict=True)],
            trial.reports,
        )
