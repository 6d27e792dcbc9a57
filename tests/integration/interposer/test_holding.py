"""A held turn: the gate is closed, the program keeps its memory, and single calls may pass."""

import time

import pytest

from nvshare.wire.frames import (
    CannotDrain,
    Grant,
    Held,
    HelloFlags,
    Hold,
    Keep,
    Released,
    Revoke,
    Step,
    UndrainedReason,
    Urgency,
    Want,
)

from .conftest import Guest
from .scripted import Link, Scripted
from .swapper import MIB, Swapper

TURN = 5
# The numbers of a HOLD and of a STEP.
HOLDS, STEPS = 8, 9
AWAIT = "gpu.cuda.cuStreamWaitValue32_v2({stream}, gpu.last, 1, 0)"
ENTER = "gpu.cuda.cuCtxSetCurrent(gpu.context)"
SET = ENTER + " or gpu.cuda.cuMemsetD8Async(gpu.last, 1, gpu.word(1), {stream})"


@pytest.fixture(params=["managed", "explicit"])
def environment(environment: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    """As for all other guests, with both kinds of memory."""
    return {**environment, "NVSHARE_ALLOCATION": request.param}


@pytest.fixture
def link(scripted: Scripted, guest: Guest) -> Link:
    """A guest that holds a turn, and has a word of memory."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    hello = link.welcome()
    assert hello.flags & HelloFlags.CAN_HOLD
    if not hello.flags & HelloFlags.WANTS:
        link.next(Want)
    link.send(Grant(turn=TURN, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask(ENTER) == 0
    assert guest.ask("gpu.alloc(4)")[0] == 0
    assert guest.ask("gpu.cuda.cuMemsetD8_v2(gpu.last, 0, gpu.word(4))") == 0
    guest.ask("[gpu.stream().value, gpu.stream().value]")
    return link


def hold(link: Link) -> None:
    link.send(Hold(TURN, HOLDS))
    assert link.told(Held) == Held(TURN, 0, HOLDS)


def come_to_wait(link: Link, number: int = HOLDS) -> None:
    assert link.told(Held) == Held(TURN, 1, number)


def step(link: Link, *, waits: bool = False) -> None:
    link.send(Step(TURN, STEPS))
    held = link.told(Held)
    if waits and not held.waits:
        # The next call comes after all is over, and is reported separately.
        held = link.told(Held)
    assert held == Held(TURN, waits, STEPS)


def test_a_held_gate_holds_calls_until_the_turn_goes_on(link: Link, guest: Guest) -> None:
    hold(link)
    assert link.silent()
    job = guest.ask("gpu.start('gpu.launch()')")
    come_to_wait(link)
    # Later calls change nothing.
    other = guest.ask("gpu.start('gpu.launch()')")
    assert link.silent()
    assert not guest.ask(f"gpu.done({job})")
    link.send(Keep(TURN))
    assert guest.ask(f"[gpu.done({job}, 10), gpu.done({other}, 10)]") == [True, True]
    # It is the same turn.
    link.send(Revoke(turn=TURN, urgency=Urgency.NOW, idle_us=0, evict_bytes=0))
    assert link.told(Released).turn == TURN


def test_a_step_lets_one_call_pass_whatever_the_budget_is(link: Link, guest: Guest) -> None:
    """Among three hundred there are some at which the work in flight is counted."""
    hold(link)
    before, count = guest.ask("gpu.launches"), 300
    guest.ask(f"gpu.start('gpu.launch({count})')")
    come_to_wait(link)
    for done in range(1, count):
        step(link, waits=True)
        assert guest.ask("gpu.launches") == before + done
    step(link)
    assert guest.ask("gpu.launches") == before + count
    assert link.silent()


@pytest.mark.parametrize(
    "call",
    [
        "gpu.launch()",
        "gpu.fetch()",
        "gpu.cuda.cuMemsetD8_v2(gpu.last, 0, gpu.word(4))",
        "gpu.launch_graph()",
    ],
)
def test_each_kind_of_call_is_let_pass_alone(link: Link, guest: Guest, call: str) -> None:
    assert guest.ask("gpu.capture(3)") == [0, 0, 0, 0]
    hold(link)
    jobs = [guest.ask(f"gpu.start({ENTER + ' or ' + call!r})") for _ in range(2)]
    come_to_wait(link)
    step(link, waits=True)
    assert guest.ask(f"gpu.any_done({jobs}, 10)")
    assert [guest.ask(f"gpu.done({job}, 0.1)") for job in jobs].count(True) == 1
    step(link)
    assert [guest.ask(f"gpu.done({job}, 10)") for job in jobs] == [True, True]


def test_a_call_that_was_let_pass_is_waited_for(link: Link, guest: Guest) -> None:
    """Whether on the GPU or in the driver: the copy waits for the kernel."""
    hold(link)
    guest.ask("gpu.start('gpu.launch(1, slow=True)')")
    come_to_wait(link)
    began = time.monotonic()
    step(link)
    assert time.monotonic() - began >= 0.02
    assert guest.ask("gpu.cuda.cuStreamQuery(None)") == 0


def test_a_step_that_nobody_needs_lets_nobody_pass_later(link: Link, guest: Guest) -> None:
    hold(link)
    step(link)
    job = guest.ask("gpu.start('gpu.launch()')")
    come_to_wait(link, STEPS)
    assert not guest.ask(f"gpu.done({job}, 0.1)")


def test_without_its_daemon_a_held_program_goes_on(
    link: Link, guest: Guest, scripted: Scripted
) -> None:
    hold(link)
    job = guest.ask("gpu.start('gpu.launch(10)')")
    come_to_wait(link)
    step(link, waits=True)
    scripted.die()
    assert guest.ask(f"gpu.done({job}, 10)")
    assert "is lost" in guest.end()


def test_frames_about_another_turn_mean_nothing(link: Link, guest: Guest) -> None:
    link.send(Hold(TURN - 1, HOLDS))
    link.send(Step(TURN, STEPS))
    assert guest.ask("gpu.launch(10)") == 0
    hold(link)
    job = guest.ask("gpu.start('gpu.launch()')")
    come_to_wait(link)
    link.send(Step(TURN + 1, STEPS))
    assert not guest.ask(f"gpu.done({job}, 0.1)")
    assert link.silent(0)


def test_work_that_waits_for_other_programs_is_given_time(link: Link, guest: Guest) -> None:
    """A call for a free stream opens a gate that is to close; one that holds waits much longer."""
    assert guest.ask(AWAIT.format(stream="gpu.streams[0]")) == 0
    link.send(Hold(TURN, HOLDS))
    link.until_taken_in()
    began = time.monotonic()
    job = guest.ask(f"gpu.start({SET.format(stream='gpu.streams[1]')!r})")
    # It may be waiting for no other program.
    assert link.told(CannotDrain) == CannotDrain(TURN, UndrainedReason.STREAM, HOLDS)
    assert time.monotonic() - began >= 2
    assert guest.ask(f"gpu.done({job}, 10)")
    assert guest.ask("gpu.cuda.cuStreamSynchronize(gpu.streams[0])") == 0


def test_an_allocation_while_it_holds_is_there_for_the_next_call(link: Link, guest: Guest) -> None:
    hold(link)
    code, pointer = guest.ask(f"gpu.alloc({4 * MIB})")
    assert code == 0
    job = guest.ask(f"gpu.start('gpu.upload({pointer}, {4 * MIB})')")
    come_to_wait(link)
    link.send(Step(TURN, STEPS))
    held = link.told(Held)
    if held.waits:
        # The gate was short of memory, which comes first.
        step(link)
    assert guest.ask(f"gpu.done({job}, 10)")
    link.send(Keep(TURN))
    assert guest.ask(f"gpu.download({pointer}, {4 * MIB})") == 0


def held_by(swapper: Swapper) -> int:
    """The bytes that it has on the GPU."""
    account = swapper.truth()
    return account.plain_bytes + account.resident_bytes


class TestMemory:
    """Memory of a held turn stays where it is, until it is ordered out."""

    def test_hold_moves_nothing_and_revoke_does_as_ever(self, swapper: Swapper) -> None:
        pointer = swapper.allocate(8)
        swapper.touch(pointer)
        link, there = swapper.link, held_by(swapper)
        link.send(Hold(swapper.turn, HOLDS))
        assert link.told(Held) == Held(swapper.turn, 0, HOLDS)
        assert (held_by(swapper), swapper.truth().out_bytes) == (there, 0)
        swapper.swap_out(8)
        assert held_by(swapper) == there - 8 * MIB
        swapper.grant()
        swapper.touch(pointer)
        assert held_by(swapper) == there

    def test_hold_while_memory_comes_lets_a_call_pass_when_it_has(self, swapper: Swapper) -> None:
        pointer = swapper.allocate(64)
        swapper.touch(pointer)
        there = held_by(swapper)
        swapper.swap_out(64)
        job = swapper.guest.ask(f"gpu.start('gpu.touch({pointer})')")
        swapper.link.told(Want)
        swapper.grant()
        swapper.link.send(Hold(swapper.turn, HOLDS))
        assert swapper.link.told(Held) == Held(swapper.turn, 1, HOLDS)
        swapper.link.send(Step(swapper.turn, STEPS))
        assert swapper.link.told(Held) == Held(swapper.turn, 0, STEPS)
        assert swapper.guest.ask(f"gpu.done({job}, 10)")
        assert held_by(swapper) == there
