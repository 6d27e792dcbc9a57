"""Programs make random calls on memory, while turns come and go at random.

For longer than a test may take, set NVSHARE_FUZZ_SECONDS=600, and NVSHARE_FUZZ_SEED to another.
"""

import os
import random
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import read_report
from nvshare.launch.preload import Wishes

from ..hammering import build_hammer
from .conftest import Sharing

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
SECONDS = float(os.environ.get("NVSHARE_FUZZ_SECONDS", "30"))
SEED = int(os.environ.get("NVSHARE_FUZZ_SEED", "1"))
# Three programs with up to 300 MiB each, on a GPU of 256 MiB with little room for contexts.
SETTINGS = {"lab": {"context": "24Mi"}, "reserve": "48Mi"}


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_hammer(tmp_path_factory.mktemp("fuzzer"), library_folder(), name="fuzzer")


@pytest.mark.parametrize("ways", [["explicit"] * 3, ["explicit", "managed", "explicit"]])
def test_every_byte_is_right_whatever_programs_do(
    share: Callable[..., Sharing], fuzzer: Path, ways: list[str]
) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices("all", SETTINGS)
    programs = [
        sharing.start(
            *(fuzzer, "2", str(SECONDS), str(SEED + number), KERNELS),
            wishes=Wishes(allocation=way),
        )
        for number, way in enumerate(ways)
    ]
    chance = random.Random(SEED)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if chance.random() < 0.01:
            sharing.kill_daemon()
            time.sleep(chance.random())
            sharing.start_daemon()
            sharing.daemon().change_devices("all", SETTINGS)
        turn = chance.choice([0.002, 0.01, 0.05])
        sharing.daemon().change_devices("all", {"turn_seconds": turn})
        time.sleep(chance.random() / 4)
    for program in programs:
        said, errors = program.communicate(timeout=120)
        wrong = [line for line in errors.splitlines() if not line.startswith("nvshare[")]
        assert wrong == []
        assert program.returncode == 0
        # Otherwise it has waited all the time.
        assert int(said.split()[0]) > 10 * SECONDS
    assert read_report(sharing.node.folder).difference is None
