"""A campaign from its beginning to its end: acts, the pauses after them, and what is left."""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from nvshare.lab.emulator.report import read_report

from .faults import FAULTS, possible
from .journal import Journal
from .leftovers import check_leftovers
from .paging import MOST, lost_part
from .plan import Act, Fault, acts, choose_roles
from .processes import processor_delay
from .stage import Stage, staged
from .watch import Watch

# After an act every program has to complete this many kernels, within this many seconds.
ROUNDS = 4
PATIENCE = 30.0
IDLE_BOUND = 1.0
# A small campaign runs beside other tests, on a machine that is busy with them. It does not test
# how long things take.
SMALL_PATIENCE = 60.0
SMALL_IDLE_BOUND = 5.0
_TICK = 0.05
# After this many acts there is a rest, from when no fault explains anything any more: so long for
# programs to settle, and as long for a look at how much of the GPUs' time they make use of.
_REST_EVERY = 3
_REST = 3.0


@dataclass(frozen=True)
class Result:
    """How it went."""

    acts: int
    faults: int
    rounds: int
    finished: int
    refused: int
    daemons: int
    longest_idle: float
    watched: float
    failures: tuple[str, ...]


class Campaign:
    """Acts on a stage, one after the other."""

    def __init__(self, stage: Stage, watch: Watch, patience: float) -> None:
        self._stage = stage
        self._patience = patience
        self._watch = watch
        self._journal = stage.journal
        self.faults = 0
        self.acts = 0

    def run(self, seed: int, seconds: float, kinds: Collection[str]) -> None:
        """Run acts until time is up, or something is wrong."""
        self._stage.supervisor.look_after()
        self._stage.supervisor.wait_until_it_answers()
        self._stage.supervisor.note_descriptors()
        self._all_go_on("at the start")
        until = time.monotonic() + seconds
        for act in acts(seed, [kind for kind in possible(self._stage) if kind in kinds]):
            if time.monotonic() > until or self._journal.failures:
                break
            self._play(act)

    def _play(self, act: Act) -> None:
        self._journal.say(f"act {act.number}: " + "; ".join(map(str, act.faults)))
        self.acts += 1
        self.faults += len(act.faults)
        threads = [threading.Thread(target=self._do, args=(fault,)) for fault in act.faults]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self._stage.look_after_all()
            time.sleep(_TICK)
        self._all_go_on(f"after act {act.number}")
        if act.number % _REST_EVERY == 0:
            self._rest()

    def _rest(self) -> None:
        """Let all programs work while nothing goes wrong."""
        while any(map(self._stage.excuses.holds, (0, 1))) and not self._journal.failures:
            self._stage.look_after_all()
            time.sleep(_TICK)
        self._look_after_all(_REST)
        before = read_report(self._stage.node.folder)
        self._look_after_all(_REST)
        lost = lost_part(before, read_report(self._stage.node.folder))
        if lost > MOST and not self._journal.failures:
            self._journal.fail(f"a GPU spent {lost:.0%} of its busy time in page faults")
        self._journal.say(f"page faults took {lost:.0%} of a GPU's busy time at most")

    def _look_after_all(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._journal.failures:
            self._stage.look_after_all()
            time.sleep(_TICK)

    def _do(self, fault: Fault) -> None:
        time.sleep(fault.at)
        try:
            FAULTS[fault.kind](self._stage, fault)
        except Exception as error:  # noqa: BLE001 - a mistake of ours has to end the campaign
            self._journal.fail(f"{fault} could not be done: {error!r}")

    def _all_go_on(self, when: str) -> None:
        """Wait until every program has progressed, and is connected to the daemon."""
        before = [program.rounds for program in self._stage.programs]

        def late() -> list[str]:
            return [
                str(program.role)
                for program, rounds in zip(self._stage.programs, before, strict=True)
                if program.rounds < rounds + ROUNDS
            ]

        self._until_none(late, f"some programs make no progress {when}")
        self._until_none(self._unmanaged, f"some programs are not connected to the daemon {when}")
        if not self._journal.failures:
            self._journal.say(f"all programs have made progress {when}")

    def _unmanaged(self) -> list[str]:
        """Processes that use a GPU without the daemon's knowledge."""
        return self._stage.unknown_to(self._watch.status)

    def _until_none(self, find: Callable[[], list[str]], what: str) -> None:
        """Wait, but not for ever; time in which processes got no processor is added."""
        began, delay = time.monotonic(), self._delay()
        while not self._journal.failures and (found := find()):
            self._stage.look_after_all()
            if time.monotonic() - began > self._patience + max(0.0, self._delay() - delay):
                self._journal.fail(f"{what}: {'; '.join(found)}")
            time.sleep(_TICK)

    def _delay(self) -> float:
        pid = self._stage.supervisor.pid
        pids = [pid for program in self._stage.programs for pid in program.pids]
        return max((processor_delay(one) for one in [*pids, *([pid] if pid else [])]), default=0.0)


def run_campaign(
    seed: int,
    seconds: float,
    kept: Path,
    *,
    kinds: Collection[str],
    is_shown: bool,
    is_small: bool,
) -> Result:
    """Run one. Logs are in a folder afterwards."""
    kept.mkdir(parents=True, exist_ok=True)
    for old in kept.iterdir():
        old.unlink()
    journal = Journal(kept / "journal.txt", is_shown=is_shown)
    roles = choose_roles(seed, is_small=is_small)
    for role in roles:
        journal.say(f"program {role}")
    with staged(roles, kept, journal, is_small=is_small) as stage:
        bound = SMALL_IDLE_BOUND if is_small else IDLE_BOUND
        watch = Watch(stage.node, stage.supervisor, stage.programs, stage.excuses, journal, bound)
        campaign = Campaign(stage, watch, SMALL_PATIENCE if is_small else PATIENCE)
        with watch:
            campaign.run(seed, seconds, kinds)
            if journal.failures:
                _keep_journal(stage)
        if not journal.failures:
            check_leftovers(stage)
        result = Result(
            campaign.acts,
            campaign.faults,
            sum(program.rounds for program in stage.programs),
            sum(program.finished for program in stage.programs),
            sum(program.refused for program in stage.programs),
            stage.supervisor.started,
            watch.longest_idle,
            watch.watched,
            tuple(journal.failures),
        )
    journal.close()
    return result


def _keep_journal(stage: Stage) -> None:
    """Keep the daemon's inputs and decisions, and the present state."""
    control = stage.supervisor.control
    for name, ask in (
        ("journal.jsonl", control.journal),
        ("status.json", lambda: control.status().model_dump_json(indent=2)),
    ):
        try:
            (stage.kept / name).write_text(ask(), encoding="utf-8")
        except Exception as error:  # noqa: BLE001 - it may be dead, and that is the failure
            stage.journal.say(f"no {name}: {error}")
