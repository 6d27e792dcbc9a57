"""A program is killed at every instruction of the thread that moves its memory: others go on.

This covers every instruction, because most of them make no difference. A dead process leaves only
its effects on the outside, and between two calls the interposer's own code has none: it uses no
shared memory, which is checked for every instruction. So it suffices to kill at each place where
the thread returns into the interposer, and after each of its system calls. The state that the
emulated driver leaves in the node when it dies in the middle of a call is tested instruction by
instruction elsewhere (tests/unit/lab/emulator/model/test_kill.py).

By default a few places are tried. NVSHARE_EVERY_POSITION=1, with --timeout=0, tries all of them.
"""

import os
import signal
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import Report
from nvshare.launch.preload import Wishes, library

from ..hammering import build_hammer
from ..patience import Patience
from .accesses import shared_accesses
from .conftest import PATIENCE, Sharing
from .stepping import Place, Stepper, killed_anywhere_but, killed_at, traced

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
# Room for one of two programs with 10 MiB each.
SETTINGS = {"lab": {"context": "10Mi"}, "reserve": "217Mi", "turn_seconds": 0.01}
EVERY = os.environ.get("NVSHARE_EVERY_POSITION") == "1"
WAYS = ("out", "in")
# The thread has rung the session's bell, to report the end of the move: sendto.
TOLD = Place("syscall-44", 1)
# Moves differ in their waits. If this many have reached no new place, there are no more.
ENOUGH_MOVES = 10
LEAST_PLACES = 50


@pytest.fixture(scope="module")
def stepper(tmp_path_factory: pytest.TempPathFactory) -> Stepper:
    folder = tmp_path_factory.mktemp("stepper")
    return Stepper(build_hammer(folder, library_folder(), name="kill_while_stepping"))


class Lodger:
    """A program that has its memory."""

    def __init__(self, sharing: Sharing, program: Path, allocation: str) -> None:
        wishes = Wishes(allocation=allocation)
        self.process = sharing.start(program, KERNELS, "small", wishes=wishes)
        self.says("ready")

    def hears(self) -> str:
        """Wait for its next line; return an empty one if it has died."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def says(self, what: str) -> None:
        """Wait for its next line, which has to be this."""
        assert self.hears() == what + "\n", self.process.communicate(timeout=10)

    def ask(self) -> None:
        """Have it check its memory, for which all of that has to be on the GPU."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def look(self) -> None:
        """The same, and wait: it has to find its memory unchanged."""
        self.ask()
        self.says("right")

    def on_gpu(self, report: Report) -> int:
        """How much memory it has there."""
        process = report.process(self.process.pid)
        assert process is not None
        return process.gpus[0].plain_bytes + process.gpus[0].resident_bytes

    def mover(self) -> int:
        """The thread that moves its memory."""
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text() == "nvshare-mover\n":
                return int(task.name)
        raise AssertionError("there is no such thread yet")


class Scene:
    """A survivor, and others that do not survive."""

    def __init__(self, sharing: Sharing, lodger: Path, stepper: Stepper, allocation: str) -> None:
        self._sharing, self._lodger, self._stepper = sharing, lodger, stepper
        self._allocation = allocation
        sharing.daemon().change_devices("all", SETTINGS)
        self.survivor = Lodger(sharing, lodger, allocation)

    def play(self, way: str, *options: str | Path) -> tuple[list[Place], bool, str]:
        """Kill one while its memory moves, as the options say, or afterwards.

        Returns the places of its mover, whether it was killed there, and its earlier
        /proc/PID/maps.
        """
        victim = self._victim(way)
        pid, asked = victim.process.pid, victim if way == "in" else self.survivor
        maps = Path(f"/proc/{pid}/maps").read_text()
        said, before = "", self._moved(victim, way)

        def move() -> None:
            nonlocal said
            asked.ask()
            said = asked.hears()
            # On a busy machine the survivor does not wait for a mover that is stepped.
            patience = Patience(PATIENCE)
            while victim.process.poll() is None and self._moved(victim, way) == before:
                patience.see()
                time.sleep(0.01)

        places, is_killed = self._stepper.step(pid, victim.mover(), move, *options)
        # The survivor gets its memory in any case, the victim only if it lives.
        assert said == "right\n" or (asked is victim and is_killed and not said)
        self._sharing.kill(victim.process)
        assert victim.process.wait(timeout=10) == -signal.SIGKILL
        self.survivor.look()
        report = self._sharing.until_report(lambda report: len(report.processes) == 1)
        assert report.difference is None
        return places, is_killed, maps

    def _moved(self, one: Lodger, way: str) -> int | None:
        """How much it has said to have moved out or in; None: the daemon does not know it."""
        clients = self._sharing.daemon().status().clients
        moved = [(c.moved_out, c.moved_in) for c in clients if c.pid == one.process.pid]
        return moved[0][WAYS.index(way)] if moved else None

    def _victim(self, way: str) -> Lodger:
        """A victim whose memory is on the GPU, or away. It has moved before."""
        victim = Lodger(self._sharing, self._lodger, self._allocation)
        both = (self.survivor, victim)
        self._sharing.until_report(lambda report: len({one.on_gpu(report) for one in both}) == 2)
        self._change(victim, self.survivor)
        self._change(self.survivor, victim)
        if way == "out":
            self._change(victim, self.survivor)
        return victim

    def _change(self, one: Lodger, other: Lodger) -> None:
        """Bring in the memory of one of them, for which the other's leaves."""
        one.look()
        self._sharing.until_report(lambda report: one.on_gpu(report) > other.on_gpu(report))


def sweep(scene: Scene, way: str, known: Path) -> None:
    """Kill at every place, until several moves in a row have reached no new one."""
    killed: list[Place] = []
    idle = 0
    while idle < ENOUGH_MOVES:
        places, is_killed, _ = scene.play(way, *killed_anywhere_but(killed, known))
        killed += places[-1:] if is_killed else []
        idle = 0 if is_killed else idle + 1
    print(f"{way}: killed at {len(killed)} places")
    assert len(killed) > LEAST_PLACES


def kill(scene: Scene, way: str, *options: str | Path) -> tuple[list[Place], str]:
    """Repeat until it is killed: the end of a move may be seen before it reaches that place."""
    for _ in range(ENOUGH_MOVES):
        places, is_killed, maps = scene.play(way, *options)
        if is_killed:
            return places, maps
    raise AssertionError("no move has come so far")


def look_closely(scene: Scene, way: str, trace: Path) -> list[Place]:
    """Kill at the end of a move. Only its calls may have effects outside."""
    places, maps = kill(scene, way, *killed_at(TOLD), *traced(trace))
    assert shared_accesses(library(), trace, maps) == set()
    return places


@pytest.mark.parametrize("allocation", ["explicit", "managed"])
def test_whoever_dies_while_its_memory_moves_others_go_on(
    share: Callable[..., Sharing], lodger: Path, stepper: Stepper, allocation: str, tmp_path: Path
) -> None:
    scene = Scene(share("tiny", speed=20), lodger, stepper, allocation)
    for way in WAYS:
        places = look_closely(scene, way, tmp_path / "trace")
        if EVERY:
            sweep(scene, way, tmp_path / "known")
        elif allocation == "explicit":
            half = places[: len(places) // 2]
            kill(scene, way, *killed_anywhere_but(half, tmp_path / "known"))
    _, errors = scene.survivor.process.communicate(timeout=20)
    said = [line for line in errors.splitlines() if not line.startswith("nvshare[")]
    assert (scene.survivor.process.returncode, said) == (0, [])
