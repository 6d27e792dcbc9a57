"""Programs on several GPUs that wait for each other there: none is stuck when all hold."""

import json
import mmap
import struct
import subprocess
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pytest

from nvshare.lab.emulator.workload import installed_program
from nvshare.wire.frames import Grant, Held, HelloFlags, Hold, Keep, Step, Want

from .conftest import Guest, StartGuest
from .gang import Gang, Member
from .scripted import Link, Scripted

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
ROUNDS = 1000
# The numbers of a HOLD and of a STEP.
HOLDS, STEPS = 8, 9
# The place of the last round in the file of driver-ranks, in words.
LAST = 64


def welcome(link: Link, turn: int) -> Member:
    if not link.welcome().flags & HelloFlags.WANTS:
        link.told(Want)
    link.send(Grant(turn, 0))
    return Member(link, turn)


class Ranks(NamedTuple):
    """Two ranks with turns 1 and 2: the guest of each, and its connection to the daemon."""

    guests: list[Guest]
    links: list[Link]

    def start(self, rank: int, call: str) -> int:
        """Have a rank do something in a thread of its own."""
        return int(self.guests[rank].ask(f"gpu.start({call!r})"))

    def is_done(self, rank: int, job: int, seconds: float = 0) -> bool:
        return bool(self.guests[rank].ask(f"gpu.done({job}, {seconds})"))

    def hold(self) -> None:
        for turn, link in enumerate(self.links, 1):
            link.send(Hold(turn, HOLDS))

    def keep(self) -> None:
        for turn, link in enumerate(self.links, 1):
            link.send(Keep(turn))


@pytest.fixture(params=["one process", "managed", "explicit"])
def ranks(
    scripted: Scripted, start_guest: StartGuest, tmp_path: Path, request: pytest.FixtureRequest
) -> Ranks:
    """In one process, or in two with memory of either kind."""
    words, kind = tmp_path / "words", request.param
    words.write_bytes(bytes(mmap.PAGESIZE))
    first = start_guest(NVSHARE_ALLOCATION="managed" if kind == "one process" else kind)
    second = first if kind == "one process" else start_guest(NVSHARE_ALLOCATION=kind)
    made = Ranks([first, second], [])
    for rank in (0, 1):
        begun = made.start(rank, f"gpu.ranks.begin({rank}, {KERNELS!r}, {str(words)!r})")
        made.links.append(scripted.accept())
        welcome(made.links[rank], rank + 1)
        assert made.is_done(rank, begun, 10)
    return made


def test_a_kernel_that_waits_for_another_gpu_is_let_go_by_as_many_steps_as_it_takes(
    ranks: Ranks,
) -> None:
    first, second = ranks.links
    assert ranks.guests[0].ask("gpu.ranks.meet(0, 1)") == 0
    ranks.hold()
    assert second.told(Held) == Held(2, 0, HOLDS)
    job = ranks.start(1, "gpu.ranks.compute(1, 3) or gpu.ranks.meet(1, 1)")
    assert second.told(Held) == Held(2, 1, HOLDS)
    for _ in range(3):
        assert first.silent(0.02)
        second.send(Step(2, STEPS))
        if not second.told(Held).waits:
            assert second.told(Held) == Held(2, 1, STEPS)
    assert first.silent(0.02)
    second.send(Step(2, STEPS))
    assert second.told(Held) == Held(2, 0, STEPS)
    assert first.told(Held) == Held(1, 0, HOLDS)
    assert ranks.is_done(1, job, 10)
    ranks.keep()
    assert [ranks.guests[rank].ask(f"gpu.ranks.sync({rank})") for rank in (0, 1)] == [0, 0]


def test_one_that_waits_for_the_others_keeps_its_gate_closed_while_they_are_let_catch_up(
    ranks: Ranks,
) -> None:
    """Its own calls would not help. Without the hold, a free stream opens the gate after 0.3 s."""
    first, second = ranks.links
    assert ranks.guests[0].ask("gpu.ranks.meet(0, 1)") == 0
    ranks.hold()
    assert second.told(Held) == Held(2, 0, HOLDS)
    # The first may close its gate later than the second.
    while ranks.is_done(0, waiting := ranks.start(0, "gpu.ranks.compute(0)"), 0.2):
        continue
    assert first.silent(0.6)
    job = ranks.start(1, "gpu.ranks.meet(1, 1)")
    assert second.told(Held) == Held(2, 1, HOLDS)
    second.send(Step(2, STEPS))
    if not (held := first.told(Held)).waits:
        # The thread reaches the gate later than that.
        held = first.told(Held)
    assert held == Held(1, 1, HOLDS)
    assert ranks.is_done(1, job, 10)
    assert not ranks.is_done(0, waiting)
    ranks.keep()
    assert ranks.is_done(0, waiting, 10)


def run_ranks(
    stack: ExitStack, environment: dict[str, str], words: Path, *options: str
) -> "subprocess.Popen[str]":
    command = [str(installed_program("workloads", "driver-ranks")), "--ranks", "2"]
    command += ["--iterations", "1000000000", "--kernel", "0.0005", "--kernels", "3", "--sync"]
    process = subprocess.Popen(
        [*command, "--memory", str(8 << 20), "--meet", str(words), *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stack.callback(process.communicate)
    stack.callback(process.kill)
    return process


def end_after(words: Path, rounds: int) -> None:
    """Let the ranks end at a round that none of them has reached."""
    with words.open("r+b") as file:
        now = max(struct.unpack("QQ", file.read(16)))
        file.seek(LAST * 8)
        file.write(struct.pack("Q", now + rounds))


@pytest.mark.parametrize("kind", ["one process", "threads", "managed", "explicit"])
def test_a_thousand_rounds(
    scripted: Scripted, environment: dict[str, str], tmp_path: Path, kind: str
) -> None:
    """Every tenth time they give the turn up, and their memory leaves and comes back."""
    words = tmp_path / "words"
    with ExitStack() as stack:
        if kind in ("one process", "threads"):
            environment["NVSHARE_ALLOCATION"] = "managed"
            options = ["--threads"] if kind == "threads" else []
            programs = [run_ranks(stack, environment, words, *options)]
            members = [welcome(scripted.accept(), 1) for _ in range(2)]
        else:
            environment["NVSHARE_ALLOCATION"] = kind
            programs, members = [], []
            for rank in ("0", "1"):
                programs += [run_ranks(stack, environment, words, "--rank", rank, "--device", rank)]
                members += [welcome(scripted.accept(), 1)]
        gang = Gang(members)
        for number in range(ROUNDS):
            gang.hold()
            if number % 10 == 9:
                gang.switch(8 << 20)
            else:
                gang.keep()
        end_after(words, 5)
        for program in programs:
            said, errors = program.communicate(timeout=30)
            assert program.returncode == 0, errors
            assert json.loads(said)["wrong"] == 0
    # Otherwise no rank has ever waited for another.
    assert gang.steps > 10
