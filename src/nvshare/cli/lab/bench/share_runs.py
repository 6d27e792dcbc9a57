"""Share cases, run on an emulated node: many at the same time, on GPUs of their own.

The node runs at speed 1, where the machine's own delays matter least.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nvshare.cli.lab.bench.share_cases import MODEL, WARM_UP_S, Case, Client
from nvshare.cli.lab.bench.share_results import Got
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.lateness import Lateness
from nvshare.cli.lab.trial.limits import with_limits
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.core.settings import Limits, Priority
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.report import Report, read_report
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import without_preload
from nvshare.settings import DeviceSettings

SPEED = 1.0
# As many clients as two cores can run without delaying each other.
MOST_CLIENTS = 12
# A program that has not computed at this many looks in a row does not have its turn.
_LOOK_S, _LOOKS_OF_REST = 0.1, 20
# Ahead of other trials, too: a late millisecond matters less to their programs.
_RANK = 2


@dataclass(frozen=True)
class _Part:
    case: Case
    actors: tuple[Actor, ...]


def batches(cases: Iterable[Case]) -> list[list[Case]]:
    """Return the cases in their order, in batches that can run at the same time."""
    found: list[list[Case]] = []
    for case in cases:
        if not found or sum(len(one.clients) for one in [*found[-1], case]) > MOST_CLIENTS:
            found.append([])
        found[-1].append(case)
    return found


def run(cases: Sequence[Case], seconds: float, *, warm_up: float = WARM_UP_S) -> Iterator[Got]:
    """Run cases at the same time, and yield the result of each as it ends."""
    profiles = parse_gpus(f"{sum(case.gpus for case in cases)}x{MODEL}")
    settings = [DeviceSettings()] * len(profiles)
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(open_stage(profiles, SPEED, settings, rank=_RANK))
        parts = _start(stage, cases, stack)
        time.sleep(warm_up)
        lateness = Lateness()
        began, before = time.monotonic(), read_report(stage.node.folder)
        for part in sorted(parts, key=lambda part: part.case.measured_seconds(seconds)):
            length = part.case.measured_seconds(seconds)
            if part.case.takes_turns:
                before = _turn_begins(stage, part, lateness)
                began = time.monotonic()
            lateness.sleep_until(began + length)
            after = read_report(stage.node.folder)
            if part.case.takes_turns:
                after = _turn_begins(stage, part, lateness)
            yield _got(part, before, after, lateness)


def _turn_begins(stage: Stage, part: _Part, lateness: Lateness) -> Report:
    """Wait until the first program computes again after a rest, and return the node's state."""
    first, looks = part.actors[0].pid, 0
    before = read_report(stage.node.folder)
    while True:
        lateness.sleep_until(time.monotonic() + _LOOK_S)
        after = read_report(stage.node.folder)
        stands = _computed(after, first) == _computed(before, first)
        if not stands and looks >= _LOOKS_OF_REST:
            return after
        before, looks = after, looks + 1 if stands else 0


def _start(stage: Stage, cases: Sequence[Case], stack: contextlib.ExitStack) -> list[_Part]:
    parts, first = [], 0
    for case in cases:
        actors = []
        for client in case.clients:
            actor = Actor(_command(client), _environ(stage, client))
            stack.callback(actor.stop)
            actors.append((actor, first + client.gpu))
        for actor, gpu in actors:
            actor.wait_until_ready()
            actor.begin(gpu, time.monotonic())
        parts.append(_Part(case, tuple(actor for actor, _ in actors)))
        first += case.gpus
    return parts


def _command(client: Client) -> list[str]:
    options = {
        "style": client.style,
        "kernel": client.kernel,
        "graph-kernels": client.graph_kernels,
        "memory": client.memory,
        "burst": client.burst,
        "rest": client.rest,
        "rest-jitter": client.rest,
        "warm-up": WARM_UP_S,
    }
    program = str(installed_program("workloads", "driver-kernels"))
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [program, "--held", *words]


def _environ(stage: Stage, client: Client) -> dict[str, str]:
    if client.is_bare:
        return without_preload(stage.environ)
    return with_limits(
        Limits(compute_percent=client.percent, priority=Priority(client.priority)), stage.environ
    )


def _got(part: _Part, before: Report, after: Report, lateness: Lateness) -> Got:
    passed = after.clock_ns - before.clock_ns
    used = [_computed(after, one.pid) - _computed(before, one.pid) for one in part.actors]
    percents = tuple(100.0 * one / passed for one in used)
    latencies = [
        tuple(actor.end()["latencies"]) if client.burst else ()
        for client, actor in zip(part.case.clients, part.actors, strict=True)
    ]
    return Got(part.case, passed / 1e9, percents, tuple(latencies), lateness.percent)


def _computed(report: Report, pid: int) -> int:
    process = report.process(pid)
    return sum(account.compute_ns for account in process.gpus) if process else 0
