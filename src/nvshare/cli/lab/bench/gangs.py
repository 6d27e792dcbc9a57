"""``nvshare bench gangs``: programs of two ranks that take turns on two GPUs, in short turns.

Their kernels spin until those of the other rank run, so a turn that ended on one GPU alone would
never end. The benchmark counts how often turns changed, how long that took, and how often a client
had not given way within ``revoke_patience``: an interlock.
"""

import contextlib
import statistics
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.limits import own_group, with_limits
from nvshare.cli.lab.trial.ranks import Rank, rank_command
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.core.effects import Grant, Hold, Report, ReportKind
from nvshare.core.journal.journal import Entry, read_entry
from nvshare.core.settings import NO_LIMITS
from nvshare.errors import NvshareError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.settings import DeviceSettings

CHANGES = 1000
_TURN_S = 0.03
_PATIENCE_S = 5.0
# After this time, a rank that began first waits for its other rank.
_CROSSED_S = 0.1
_GPUS, _GANGS = 2, 2
# The daemon does nothing else while it sends its journal, which has thousands of events.
_LOOK_S = 3.0
_WORTH_READING = ('"Hold"', '"Grant"', '"overdue"')
# After this time without a turn change there will not be another one.
_STANDSTILL_S = 60.0
# Where ranks look for the last round (lab/workloads/driver/meeting.h), and how far ahead that is.
_LAST_WORD, _ROUNDS_AHEAD = 64, 200
_RANKS = Program(
    name="ranks",
    ranks=tuple(range(_GPUS)),
    phase=(Phase(memory=64 << 20, iterations=1_000_000_000, kernel_seconds=0.001),),
)


@dataclass
class Count:
    """The turn changes of gangs, as the daemon's journal records them."""

    seconds: list[float] = field(default_factory=list)
    interlocks: int = 0
    _until: float = -1.0
    _began: float | None = None

    def read(self, journal: str) -> None:
        """Continue reading where the journal ended last time. The first line is a state."""
        for line in journal.splitlines()[1:]:
            if not any(word in line for word in _WORTH_READING):
                continue
            entry = read_entry(line)
            if entry.event.now > self._until:
                self._until = entry.event.now
                self._take(entry)

    def _take(self, entry: Entry) -> None:
        """A change begins with the first client told to hold, and ends with the next grant."""
        now, effects = entry.event.now, entry.effects
        if self._began is None and any(isinstance(one, Hold) for one in effects):
            self._began = now
        if self._began is not None and any(isinstance(one, Grant) for one in effects):
            self.seconds.append(now - self._began)
            self._began = None
        reports = (one for one in effects if isinstance(one, Report))
        self.interlocks += sum(one.kind is ReportKind.OVERDUE for one in reports)


def measure(changes: int = CHANGES, *, crossed: bool = False) -> Iterator[Line]:
    """Let two programs take turns this many times, and yield the results.

    ``crossed``: the programs begin on different GPUs, so that each is in the other's way.
    """
    settings = DeviceSettings(mode="serial", turn_seconds=_TURN_S, revoke_patience=_PATIENCE_S)
    with (
        open_stage(parse_gpus(f"{_GPUS}xt4"), 1.0, [settings] * _GPUS, data="on") as stage,
        contextlib.ExitStack() as stack,
    ):
        meets = [stage.node.folder / f"meet-{number}" for number in range(_GANGS)]
        programs = [_start(stage, meet, stack) for meet in meets]
        _begin(programs, crossed)
        count = _await(stage, changes)
        for meet in meets:
            _end(meet)
        # A program that finds its memory changed fails.
        for actors in programs:
            for actor in actors:
                actor.ending()
    yield _line(count)


@registered("gangs")
def measure_all() -> Iterator[Line]:
    """Yield a line for as many turn changes as usual."""
    yield from measure()


def _start(stage: Stage, meet: Path, stack: contextlib.ExitStack) -> list[Actor]:
    """Start the processes of one gang."""
    environ, actors = with_limits(NO_LIMITS, stage.environ, own_group()), []
    for number in range(_GPUS):
        actor = Actor(rank_command(_RANKS, Rank(number, meet), managed=False), environ)
        stack.callback(actor.stop)
        actor.wait_until_ready()
        actors.append(actor)
    return actors


def _begin(programs: list[list[Actor]], crossed: bool) -> None:
    now = time.monotonic()
    for number, actors in enumerate(programs):
        for gpu, actor in enumerate(actors):
            actor.begin(gpu, now + (_CROSSED_S if crossed and gpu != number else 0.0))


def _await(stage: Stage, changes: int) -> Count:
    count = Count()
    if stage.daemon is None:
        raise ValueError("a stage without a daemon")
    known, since = 0, time.monotonic()
    while len(count.seconds) < changes:
        time.sleep(_LOOK_S)
        count.read(stage.daemon.journal())
        if len(count.seconds) > known:
            known, since = len(count.seconds), time.monotonic()
        if time.monotonic() > since + _STANDSTILL_S:
            raise NvshareError(
                f"no turn changed for {_STANDSTILL_S:.0f} s, after {known} changes",
                why="programs of several ranks wait for each other",
                do="report this with the output of `nvshare trace`",
            )
    return count


def _end(meet: Path) -> None:
    """Have all ranks end after the same round, which none of them has reached yet."""
    with meet.open("r+b") as file:
        last = max(struct.unpack(f"{_GPUS}Q", file.read(8 * _GPUS))) + _ROUNDS_AHEAD
        file.seek(8 * _LAST_WORD)
        file.write(struct.pack("Q", last))


def _line(count: Count) -> Line:
    milliseconds = [1000 * seconds for seconds in count.seconds]
    return {
        "gangs": _GANGS,
        "gpus": _GPUS,
        "turn_changes": len(milliseconds),
        "interlocks": count.interlocks,
        "p50_ms": round(statistics.median(milliseconds), 2),
        "p99_ms": round(statistics.quantiles(milliseconds, n=100)[98], 2),
        "longest_ms": round(max(milliseconds), 2),
        "turn_s": _TURN_S,
    }


@click.command()
@click.option("--changes", default=CHANGES, show_default=True, type=click.IntRange(2, 1_000_000))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def gangs(changes: int, as_json: bool) -> None:
    """Have programs of several ranks take turns, and count how often they deadlock."""
    show("gangs", lambda: measure(changes), as_json)
