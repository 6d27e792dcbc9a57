"""A program is killed at some instruction of the thread that moves its memory: others go on.

What a dead process leaves in the emulated node is looked at instruction by instruction elsewhere
(tests/unit/emulator/model/test_kill.py). Here it is the real thread, with the real daemon, at a few
instructions of the interposer's own, and at a few of all that the thread comes to, most of which
are the emulated driver's.

By hand, with --timeout=0: NVSHARE_KILL_STRIDE=20 kills one program at every twentieth of the
interposer's own, 500 each way; with NVSHARE_KILL_ANYWHERE=1 too, all instructions count, of which
there are 40,000 out and 170,000 in.
"""

import itertools
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.emulator.libraries import library_folder
from nvshare.launch.preload import Wishes

from ..hammering import build_hammer
from .conftest import Sharing

KERNELS = str(files("nvshare") / "emulator" / "kernels.ptx")
# Room for one of two programs with 10 MiB each.
SETTINGS = {"context": "10Mi", "reserve": "217Mi", "turn_seconds": 0.01}
STRIDE = int(os.environ.get("NVSHARE_KILL_STRIDE", "0"))
OWN, ALL = "libnvshare.so", ""
COUNTED = ALL if os.environ.get("NVSHARE_KILL_ANYWHERE") else OWN
# Whose instructions count, and how many there are before the end.
POSITIONS = {
    "out": [(OWN, 300), (OWN, 5000), (ALL, 6000)],
    "in": [(OWN, 300), (OWN, 5000), (ALL, 4000)],
}
# A move takes the interposer 7,000 instructions or more. A place that none of several moves has
# come to is beyond their end.
LEAST_OF_A_MOVE, ENOUGH_MOVES, MOST_TRIES = 5000, 5, 100


@pytest.fixture(scope="module")
def lodger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_hammer(tmp_path_factory.mktemp("lodger"), library_folder(), name="lodger")


@pytest.fixture(scope="module")
def stepper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stepper")
    return build_hammer(folder, library_folder(), name="kill_while_stepping")


class Lodger:
    """A program that has its memory."""

    def __init__(self, sharing: Sharing, program: Path) -> None:
        self.process = sharing.start(
            program, KERNELS, "small", wishes=Wishes(allocation="explicit")
        )
        self.says("ready")

    def says(self, what: str) -> None:
        """Wait until it says something, which has to be this."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == what + "\n", self.process.communicate(timeout=10)

    def ask(self) -> None:
        """Have it look at its memory, for which all of that has to be on the GPU."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def look(self) -> None:
        """The same. What it finds is what was there."""
        self.ask()
        self.says("right")

    def mover(self) -> int | None:
        """The thread that moves its memory. It is there when it is first needed."""
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text() == "nvshare-mover\n":
                return int(task.name)
        return None


class Scene:
    """A survivor, and others that do not survive."""

    def __init__(self, sharing: Sharing, lodger: Path, stepper: Path) -> None:
        self._sharing, self._lodger, self._stepper = sharing, lodger, stepper
        sharing.daemon().change_devices("all", SETTINGS)
        self.survivor = Lodger(sharing, lodger)

    def play(self, way: str, counted: str, instructions: int) -> int:
        """Kill one while its memory moves. Returns how many instructions it came to."""
        victim = Lodger(self._sharing, self._lodger)
        self.survivor.look()
        while victim.mover() is None:  # it may have been behind a closed gate all the time
            victim.look()
            self.survivor.look()
        if way == "out":
            victim.look()
        asked = victim if way == "in" else self.survivor
        done = self._step(victim, asked, counted, instructions)
        if done == instructions:
            assert victim.process.wait(timeout=10) == -signal.SIGKILL
        self._sharing.kill(victim.process)
        self.survivor.look()
        report = self._sharing.until_report(lambda report: len(report.processes) == 1)
        assert report.difference is None
        return done

    def _step(self, victim: Lodger, asked: Lodger, counted: str, instructions: int) -> int:
        numbers = victim.process.pid, victim.mover(), instructions
        command = [str(self._stepper), *map(str, numbers), *([counted] if counted else [])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stepper:
            assert stepper.stdout is not None
            try:
                assert stepper.stdout.readline() == "ready\n"
                asked.ask()
                # The survivor gets what it has asked for in any case, the victim only if it lives.
                assert asked.process.stdout is not None
                said = asked.process.stdout.readline()
                assert said == "right\n" or (asked is victim and not said)
            finally:
                stepper.terminate()
            return int(stepper.stdout.read())


def is_killed(scene: Scene, way: str, counted: str, instructions: int) -> bool:
    """Whether one came so far. Moves differ, and memory may have moved before anybody looks."""
    moves = 0
    for _ in range(MOST_TRIES):
        done = scene.play(way, counted, instructions)
        if done == instructions:
            return True
        moves += done >= LEAST_OF_A_MOVE
        if moves == ENOUGH_MOVES:
            return False
    raise AssertionError("no memory moves while it is looked at")


def positions(way: str) -> Iterator[tuple[str, int]]:
    if STRIDE:
        return ((COUNTED, instructions) for instructions in itertools.count(1, STRIDE))
    return iter(POSITIONS[way])


@pytest.mark.parametrize("way", POSITIONS)
def test_whoever_dies_while_its_memory_moves_others_go_on(
    share: Callable[..., Sharing], lodger: Path, stepper: Path, way: str
) -> None:
    sharing = share("tiny", speed=20)
    scene = Scene(sharing, lodger, stepper)
    kills = 0
    for counted, instructions in positions(way):
        try:
            if not is_killed(scene, way, counted, instructions):
                break
        except AssertionError as wrong:
            raise AssertionError(f"killed after {instructions} instructions") from wrong
        kills += 1
    assert kills
    print(f"killed {kills} programs")
    _, errors = scene.survivor.process.communicate(timeout=20)
    said = [line for line in errors.splitlines() if not line.startswith("nvshare[")]
    assert (scene.survivor.process.returncode, said) == (0, [])
