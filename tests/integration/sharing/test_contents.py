"""Programs find their data unchanged, however often their memory has moved."""

import itertools
import subprocess
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.launch.preload import Wishes

from ..patience import Patience
from .conftest import PATIENCE, Sharing

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
# The emulated GPU moves managed memory by changing its records, and copies bytes of any other.
TURNS = {"managed": 150, "explicit": 50}
PROGRAMS = 4


# As long as it takes, while memory moves.
@pytest.mark.timeout(400)
@pytest.mark.parametrize("allocation", ["managed", "explicit"])
def test_every_byte_is_right_while_programs_come_go_and_change(
    share: Callable[..., Sharing], keeper: Path, allocation: str
) -> None:
    sharing = share("tiny", speed=20)
    # Every thread makes contexts now and then, of 8 MiB each; and allocations take whole blocks.
    settings = {"turn_seconds": 0.01, "lab": {"context": "24Mi"}, "reserve": "48Mi"}
    sharing.daemon().change_devices("all", settings)
    seeds = itertools.count(1)

    def start() -> "subprocess.Popen[str]":
        seed = next(seeds)
        # Some end soon, others are killed; many threads share one gate.
        rounds = 40 if seed % 3 else 0
        wishes = Wishes(allocation=allocation)
        return sharing.start(keeper, "2", str(rounds), str(seed), KERNELS, wishes=wishes)

    programs = [start() for _ in range(PROGRAMS)]
    turns: dict[int, int] = {}
    moved: dict[int, int] = {}
    patience = Patience(PATIENCE)
    # A turn that is short on a busy machine may move little.
    enough = TURNS[allocation] * (4 << 20)
    while sum(turns.values()) < TURNS[allocation] or sum(moved.values()) <= enough:
        patience.see(sum(turns.values()), sum(moved.values()))
        for client in sharing.daemon().status().clients:
            turns[client.id] = client.turns
            moved[client.id] = client.moved_out
        for program in [p for p in programs if p.poll() is not None]:
            said, errors = program.communicate()
            # On a GPU this small, and with contexts that come and go, nvshare may find no room for
            # a while, and warn of it. That is slow, but not wrong.
            wrong = [line for line in errors.splitlines() if not line.startswith("nvshare[")]
            assert (program.returncode, said, wrong) == (0, "ok\n", [])
            programs.remove(program)
            programs.append(start())
        if len(turns) % 5 == 0:
            programs[0].kill()
            programs[0].wait()
            programs[:1] = [start()]
        time.sleep(0.02)
    report = sharing.until_report(lambda _: True)
    assert report.difference is None
