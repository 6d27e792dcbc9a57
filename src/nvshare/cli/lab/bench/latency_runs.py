"""Latency cases, run on an emulated node: a process for each program.

The programs report when they want the GPU, and when the launch of their first kernel has returned.
By then the gate is open and their memory is resident, and an otherwise idle GPU begins at once.
"""

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from nvshare.cli.lab.bench.latency_cases import Case
from nvshare.cli.lab.bench.latency_results import Waited, joined
from nvshare.cli.lab.bench.latency_scenario import Asked, judge, scenario_of
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.command import command_of
from nvshare.cli.lab.trial.limits import with_limits
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.lab.emulator.report import read_report
from nvshare.lab.sim.scenario import Program

# Processes are told this long ahead when the clock starts.
_AHEAD_S = 0.2


# A program's seed is that of its node and its number; no case has so many programs.
_SEEDS_OF_A_NODE = 100


def run(case: Case, seconds: float | None = None) -> Waited:
    """Play a case on all its nodes, and return how long the askers waited after the warm-up."""
    length = case.played_seconds if seconds is None else seconds
    with ThreadPoolExecutor(case.nodes) as pool:
        seeds = range(0, case.nodes * _SEEDS_OF_A_NODE, _SEEDS_OF_A_NODE)
        return joined(list(pool.map(partial(_play, case, length), seeds)))


def _play(case: Case, length: float, seed: int) -> Waited:
    """Play a case on one node."""
    speed = case.speed
    scenario = scenario_of(case, case.warm_up + length)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stage = stack.enter_context(
            open_stage(scenario.profiles(), speed, [scenario.settings_of(0)])
        )
        actors = [
            _start(stage, program, folder / str(number), seed + number, stack)
            for number, program in enumerate(scenario.program)
        ]
        zero = time.monotonic() + _AHEAD_S
        for actor, program in zip(actors, scenario.program, strict=True):
            actor.begin(0, zero + program.arrival / speed)
        trainers = actors[len(case.askers) :]
        before = _computed_at(stage, trainers, zero + case.warm_up / speed)
        after = _computed_at(stage, trainers, zero + (case.warm_up + length) / speed)
        asked = [
            one
            for who in range(len(case.askers))
            for one in read_bursts((folder / str(who)).read_text(), who, zero * speed)
        ]
    computed = tuple((b - a) / 1e9 for a, b in zip(before, after, strict=True))
    return judge(case, length, asked, computed)


def _start(stage: Stage, program: Program, bursts: Path, seed: int, stack: ExitStack) -> Actor:
    command = [*command_of(program, managed=False, seed=seed), "--bursts", str(bursts)]
    actor = Actor(command, with_limits(program.limits(), stage.environ))
    stack.callback(actor.stop)
    actor.wait_until_ready()
    return actor


def _computed_at(stage: Stage, actors: list[Actor], instant: float) -> list[int]:
    """Wait for an instant, and return how long the GPU has worked for each program by then."""
    time.sleep(max(0.0, instant - time.monotonic()))
    report = read_report(stage.node.folder)
    processes = [report.process(actor.pid) for actor in actors]
    return [one.gpus[0].compute_ns if one else 0 for one in processes]


def read_bursts(text: str, who: int, zero: float) -> list[Asked]:
    """Read a program's report: when it wanted the GPU and when it began, counted from ``zero``."""
    asked: list[Asked] = []
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # The program was ended while it wrote.
        what, instant = line.split()
        if what == "wants":
            asked.append(Asked(float(instant) - zero, who, None))
        else:
            asked[-1] = asked[-1]._replace(began=float(instant) - zero)
    return asked
