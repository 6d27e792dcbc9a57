"""``nvshare bench swap``: what a change of turn costs when memory has to move.

Two programs that do not fit beside each other compute without a pause, and take turns. Measured
from the beginning of one turn of a program to the beginning of a later one, the GPU's idle time is
divided by the changes of turn in between. The emulated GPU itself counts bytes, faults and
evictions, and also bytes that came in twice: those beyond what the programs say they brought in.

The limit is a bound for any way of moving: the larger direction at the speed of the bus.
It ignores that both directions at once are slower, and that pages of the host are mapped.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.errors import NvshareError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.profile import Profile
from nvshare.lab.emulator.report import GpuReport, read_report
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from nvshare.settings import DeviceSettings
from nvshare.telemetry.snapshot import DeviceStatus

MODEL = "t4"
ALLOCATIONS = ("managed", "explicit")
_MIB = 1 << 20
# The memory of pytorch-add, and one that leaves a third of the GPU to the other.
SIZES = (11968 * _MIB, 9984 * _MIB)
SPEED = 1.0
# Long enough to be worth the moves: shorter turns get longer by themselves.
_TURN_S = 4.0
_KERNEL_S = 0.005
# Changes of turn before the measurement: by then both programs' memory was on the host once, and
# the daemon has tried both ways of making room, and chosen one.
_WARM_UP = 8
_LOOK_S = 0.01
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class _Look:
    """The node at the beginning of a turn of the first program."""

    gpu: GpuReport
    turn_changes: int
    moved_in: int


@registered("swap")
def measure_all() -> Iterator[Line]:
    """Yield a line for each kind of allocation and size."""
    for allocation in ALLOCATIONS:
        for size in SIZES:
            yield measure(allocation, size)


def measure(allocation: str, size: int, rounds: int = 4, speed: float = SPEED) -> Line:
    """Let two programs of this size take turns, and return what a change of turn cost."""
    (profile,) = parse_gpus(MODEL)
    settings = DeviceSettings(turn_seconds=_TURN_S)
    with ExitStack() as stack:
        wishes = Wishes(allocation=allocation)
        stage = stack.enter_context(open_stage([profile], speed, [settings], wishes=wishes))
        first, _ = (_start(stage, size, stack) for _ in range(2))
        _wait(lambda: _device(stage).turn_changes >= _WARM_UP)
        before = _next_turn(stage, first)
        after = before
        for _ in range(rounds):
            after = _next_turn(stage, first)
    figures = _figures(before, after, profile)
    return {"allocation": allocation, "size_bytes": size, "speed": speed, **figures}


def _figures(before: _Look, after: _Look, profile: Profile) -> Line:
    changes = after.turn_changes - before.turn_changes
    stood_still = (after.gpu.clock - before.gpu.clock) - (after.gpu.busy_ns - before.gpu.busy_ns)
    moved_out = (after.gpu.out_bytes - before.gpu.out_bytes) / changes
    moved_in = (after.gpu.in_bytes - before.gpu.in_bytes) / changes
    resent = (after.gpu.in_bytes - before.gpu.in_bytes) - (after.moved_in - before.moved_in)
    seconds = stood_still / 1e9 / changes
    limit = _limit_seconds(moved_out, moved_in, profile)
    return {
        "turn_changes": changes,
        "out_bytes": round(moved_out),
        "in_bytes": round(moved_in),
        "seconds": round(seconds, 4),
        "limit_seconds": round(limit, 4),
        "ratio": round(seconds / limit, 3),
        "faults": after.gpu.faults - before.gpu.faults,
        "evictions": after.gpu.evictions - before.gpu.evictions,
        "resent_bytes": max(0, resent),
    }


def _limit_seconds(moved_out: float, moved_in: float, profile: Profile) -> float:
    out = moved_out / (profile.bus.device_to_host_gb_per_s * 1e9)
    into = moved_in / (profile.bus.host_to_device_gb_per_s * 1e9)
    return max(out, into)


def _start(stage: Stage, size: int, stack: ExitStack) -> Actor:
    program = str(installed_program("workloads", "driver-kernels"))
    actor = Actor(
        [program, "--held", "--memory", str(size), "--kernel", str(_KERNEL_S)], stage.environ
    )
    stack.callback(actor.stop)
    actor.wait_until_ready()
    actor.begin(0, time.monotonic())
    return actor


def _next_turn(stage: Stage, actor: Actor) -> _Look:
    """Wait until a program has rested and computes again, and return the node's state."""
    _wait(lambda: _stands(stage, actor))
    _wait(lambda: not _stands(stage, actor))
    device = _device(stage)
    gpu = read_report(stage.node.folder).gpus[0]
    return _Look(gpu, device.turn_changes, device.totals.moved_in)


def _stands(stage: Stage, actor: Actor) -> bool:
    """Whether a program has computed nothing for a while."""
    before = _computed(stage, actor)
    time.sleep(10 * _LOOK_S)
    return _computed(stage, actor) == before


def _computed(stage: Stage, actor: Actor) -> int:
    process = read_report(stage.node.folder).process(actor.pid)
    return process.gpus[0].compute_ns if process else 0


def _device(stage: Stage) -> DeviceStatus:
    if stage.daemon is None:
        raise ValueError("a stage without a daemon")
    return stage.daemon.status().devices[0]


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not until():
        if time.monotonic() > end:
            raise NvshareError(
                "the programs do not take turns",
                why=f"nothing changed for {_PATIENCE_S:.0f} s",
                do="look at the daemon's log",
            )
        time.sleep(_LOOK_S)


@click.command()
@click.option("--allocation", type=click.Choice(ALLOCATIONS), help="Only this kind of allocation.")
@click.option(
    "--speed",
    type=click.FloatRange(0.1, 100),
    default=SPEED,
    show_default=True,
    help="Emulated seconds per real second. Delays of the machine itself are multiplied by it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def swap(allocation: str | None, speed: float, as_json: bool) -> None:
    """Measure what a change of turn costs when memory has to move."""
    kinds = (allocation,) if allocation else ALLOCATIONS
    show(
        "swap",
        lambda: (measure(one, size, speed=speed) for one in kinds for size in SIZES),
        as_json,
    )
