"""The parts of the ways that are in a program: under the interposer, with a scripted daemon."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.wire import frames
from tests.integration.interposer.conftest import GUEST_COMMAND, Guest, preloaded
from tests.integration.interposer.scripted import Link, Scripted
from tests.integration.interposer.swapper import Swapper
from tools.docs.ways.native_calls import Notes

MIB = 1 << 20
_SECONDS = 20.0
# How often usage is reported: never, as far as a scene is concerned.
_LATE_MS = 3_600_000
_LAUNCH = "gpu.cuda.cuLaunchKernel(gpu.nothing, 1, 1, 1, 1, 1, 1, 0, None, None, None)"
PROGRAM, SESSION, MOVER = "program", "nvshare", "nvshare-mover"
Files = dict[tuple[str, int], list[str]]
"""The files that were entered first, by thread and phase."""


@dataclass
class _Stage:
    """A program that has turn 1, its daemon, and the notes of its calls."""

    guest: Guest
    swapper: Swapper
    notes: Notes

    @property
    def link(self) -> Link:
        """The program's connection."""
        return self.swapper.link

    def begin(self) -> None:
        """Begin phase 1 when everything that was left to do is done."""
        # The last report of usage comes a quarter of a second after the last work. Later ones
        # would come at no time that is the same each time.
        self.link.send(frames.Settings(50_000, 10_000, frames.SettingFlags(0), _LATE_MS))
        self._until_asleep(0.3)
        # It looks at everything once more: some reports wait until it does.
        self.link.send(frames.Settings(50_000, 10_000, frames.SettingFlags(0), _LATE_MS))
        self._until_asleep()
        self.notes.begin_phase(1)

    def go_on(self) -> None:
        """Begin phase 2 when all threads sleep."""
        self._until_asleep()
        self.notes.begin_phase(2)

    def files(self) -> Files:
        """End the last phase; return the files that each thread has entered in each."""
        self._until_asleep()
        self.notes.begin_phase(0)
        names = {int(task.name): _name_of(task) for task in self._tasks()}
        names[self.guest.process.pid] = PROGRAM
        found: Files = {}
        for one in self.notes.entered():
            found.setdefault((names[one.thread], one.phase), []).append(one.file)
        return found

    def _tasks(self) -> list[Path]:
        return list(Path(f"/proc/{self.guest.process.pid}/task").iterdir())

    def _until_asleep(self, seconds: float = 0.06) -> None:
        """Wait until no thread has run for so long."""
        deadline, before = time.monotonic() + _SECONDS, None
        while (now := [_switches(task) for task in self._tasks()]) != before:
            if time.monotonic() > deadline:
                raise TimeoutError("the program does not come to rest")
            before = now
            time.sleep(seconds)


def _name_of(task: Path) -> str:
    return (task / "comm").read_text().strip()


def _switches(task: Path) -> tuple[str, ...]:
    """Return what changes whenever a thread runs."""
    lines = (task / "status").read_text().splitlines()
    return tuple(line for line in lines if "ctxt_switches" in line or line.startswith("State"))


@contextmanager
def _stage(library: Path, folder: Path, **variables: str) -> Iterator[_Stage]:
    """Let a program come to an emulated GPU, and give it a turn."""
    notes, daemon = Notes(library, folder / "calls"), Scripted(folder / "daemon")
    daemon.listen()
    with transient_node(node_root(), Settings(), parse_gpus("1xtiny")) as node:
        environment = {**preloaded(node, daemon.folder), **variables, **notes.variables}
        process = subprocess.Popen(
            GUEST_COMMAND,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            guest = Guest(process)
            swapper = Swapper(daemon, guest, environment)
            yield _Stage(guest, swapper, notes)
        finally:
            process.kill()
            process.communicate(timeout=_SECONDS)
            daemon.die()


def launch(library: Path, folder: Path) -> Files:
    """Phase 1: a launch waits until WANT is sent. Phase 2: GRANT comes."""
    with _stage(library, folder) as stage:
        stage.swapper.revoke(0)
        stage.swapper.told(frames.Released)
        # As if it looked the function up for the first time.
        stage.guest.ask("setattr(gpu, 'cuda', type(gpu.cuda)('libcuda.so.1'))")
        stage.begin()
        stage.guest.put(_LAUNCH)
        stage.link.told(frames.Want)
        stage.go_on()
        stage.link.send(frames.Grant(2, 0))
        stage.guest.answer()
        return stage.files()


def memory(library: Path, folder: Path, kind: str) -> Files:
    """Phase 1: a turn ends, and memory leaves."""
    with _stage(library, folder, NVSHARE_ALLOCATION=kind) as stage:
        pointer = stage.swapper.allocate(128)
        stage.swapper.touch(pointer)
        stage.begin()
        stage.swapper.revoke(128 * MIB)
        stage.swapper.told(frames.Released)
        stage.swapper.moved()
        return stage.files()


def annotation(library: Path, folder: Path) -> Files:
    """Phase 1: LIMITS comes. Phase 2: the program allocates."""
    with _stage(library, folder) as stage:
        stage.begin()
        limits = frames.Limits(64 * MIB, frames.LimitFlags(0), 0, 0, 1_000_000, 1000)
        stage.link.send(limits)
        stage.go_on()
        stage.guest.ask("gpu.alloc(1 << 20)")
        return stage.files()
