"""Programs do to their own process whatever programs may do, and nvshare changes no result.

Each habit of native/tests/habits runs without nvshare first. Under it, in each way of allocating,
the exit code and the output have to be the same: beside others that fit, and taking turns with
them.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.launch.preload import Wishes, library, program_environment

from ..hammering import build_hammer
from .conftest import Sharing

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
AT_ONCE = 4
SECONDS = 100.0
# Room for one program or two of them, with 16 MiB and more each.
TURNS = {"turn_seconds": 0.02, "lab": {"context": "8Mi"}, "reserve": "184Mi"}
TOGETHER = {"lab": {"context": "8Mi"}, "reserve": "16Mi"}


@dataclass(frozen=True)
class Result:
    """What a program has said, and how it has ended."""

    code: int
    said: str
    # Without nvshare's own warnings.
    errors: tuple[str, ...]


@dataclass
class Habits:
    """The program."""

    path: Path
    node: Node

    def names(self) -> list[str]:
        """All habits."""
        environment = {**os.environ, **self.node.environment(library_folder(), os.environ)}
        command = [str(self.path), "list"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    def run(self, environment: Mapping[str, str], name: str) -> Result:
        """Run one of them."""
        command = [str(self.path), KERNELS, name]
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                said, errors = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                said, errors = process.communicate()
                errors += f"it has not ended within {SECONDS} s"
        own = tuple(line for line in errors.splitlines() if not line.startswith("nvshare["))
        return Result(process.returncode, said, own)

    def run_all(self, environment: Mapping[str, str]) -> dict[str, Result]:
        """Run all, some of them at a time."""
        names = self.names()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(names, pool.map(partial(self.run, environment), names), strict=True))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_hammer(tmp_path_factory.mktemp("habits"), library_folder(), name="habits")


@pytest.fixture(scope="module")
def bare() -> dict[str, Result]:
    """The results without nvshare, once they are known."""
    return {}


def without(habits: Habits, bare: dict[str, Result]) -> dict[str, Result]:
    """Run all habits without nvshare, unless that has been done."""
    if not bare:
        environment = {**os.environ, **habits.node.environment(library_folder(), os.environ)}
        bare.update(habits.run_all(environment))
    return bare


@pytest.mark.timeout(900)
@pytest.mark.parametrize("settings", [TOGETHER, TURNS], ids=["together", "turns"])
@pytest.mark.parametrize("allocation", ["managed", "explicit"])
def test_no_habit_has_another_result(
    share: Callable[..., Sharing],
    program: Path,
    bare: dict[str, Result],
    allocation: str,
    settings: dict[str, float | str],
) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices("all", settings)
    habits = Habits(program, sharing.node)
    expected = without(habits, bare)
    assert len(expected) >= 60
    own = sharing.node.environment(library_folder(), os.environ)
    base = {**os.environ, **own, "NVSHARE_WAIT_NOTICE": "0"}
    folder = sharing.node.folder / "daemon"
    wishes = Wishes(allocation=allocation)
    found = habits.run_all({**base, **program_environment(wishes, folder, library(), base)})
    assert {name: result for name, result in found.items() if result != expected[name]} == {}
    # Programs that have been killed or have closed everything have left nothing behind.
    assert sharing.until_report(lambda report: not report.processes).difference is None
