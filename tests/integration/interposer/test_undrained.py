"""Work that waits for calls at the closed gate: reports to the daemon, and the program's view."""

import select

import pytest

from nvshare.wire.frames import (
    CanDrain,
    CannotDrain,
    Grant,
    Handover,
    HelloFlags,
    Released,
    Revoke,
    UndrainedReason,
    Urgency,
    Want,
)

from .conftest import Guest
from .scripted import Link, Scripted, hand_over_ends

TURN = 5
REVOKE = Revoke(turn=TURN, urgency=Urgency.NOW, idle_us=0, evict_bytes=0)
AWAIT = "gpu.cuda.cuStreamWaitValue32_v2({stream}, gpu.last, 1, 0)"
ENTER = "gpu.cuda.cuCtxSetCurrent(gpu.context)"
SET = ENTER + " or gpu.cuda.cuMemsetD8Async(gpu.last, 1, gpu.word(1), {stream})"


@pytest.fixture(params=["managed", "explicit"])
def environment(environment: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    """As for all other guests, with both kinds of memory."""
    return {**environment, "NVSHARE_ALLOCATION": request.param}


@pytest.fixture
def link(scripted: Scripted, guest: Guest) -> Link:
    """A guest that holds a turn, and has a word of memory and two non-blocking streams."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    if not link.welcome().flags & HelloFlags.WANTS:
        link.next(Want)
    link.send(Grant(turn=TURN, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask(ENTER) == 0
    assert guest.ask("gpu.alloc(4)")[0] == 0
    assert guest.ask("gpu.cuda.cuMemsetD8_v2(gpu.last, 0, gpu.word(4))") == 0
    guest.ask("[gpu.stream().value, gpu.stream().value]")
    return link


def close(link: Link) -> None:
    """Revoke the turn, and make sure that the gate is closed."""
    link.send(REVOKE)
    link.until_taken_in()


def test_a_stream_that_waits_for_another_gets_what_it_waits_for(link: Link, guest: Guest) -> None:
    assert guest.ask(AWAIT.format(stream="gpu.streams[0]")) == 0
    close(link)
    call = SET.format(stream="gpu.streams[1]")
    job = guest.ask(f"gpu.start({call!r})")
    assert link.told(CannotDrain) == CannotDrain(TURN, UndrainedReason.STREAM)
    assert guest.ask(f"gpu.done({job}, 10)")
    assert guest.ask("gpu.cuda.cuStreamSynchronize(gpu.streams[0])") == 0
    assert link.told(CanDrain) == CanDrain(TURN)
    # From now on it gives way like any other program.
    link.send(REVOKE)
    link.told(Released)


def test_a_turn_that_goes_on_is_handed_to_nobody(link: Link, guest: Guest) -> None:
    ours, theirs = hand_over_ends()
    guest.ask(AWAIT.format(stream="gpu.streams[0]"))
    link.send(Handover(turn=TURN, next_turn=TURN + 1), theirs)
    close(link)
    call = SET.format(stream="gpu.streams[1]")
    guest.ask(f"gpu.start({call!r})")
    link.told(CannotDrain)
    link.told(CanDrain)
    link.send(REVOKE)
    link.told(Released)
    assert not select.select([ours], [], [], 0)[0]


def test_a_call_that_comes_behind_the_work_does_not_open_the_gate(link: Link, guest: Guest) -> None:
    assert guest.ask("gpu.launch_very_slow(gpu.streams[0])") == 0
    close(link)
    job = guest.ask("gpu.start('gpu.launch(1, slow=True, stream=gpu.streams[0])')")
    frame = link.told(Released)
    assert isinstance(frame, Released)
    assert frame.wants
    assert not guest.ask(f"gpu.done({job})")


def test_functions_get_what_the_program_gave(link: Link, guest: Guest) -> None:
    del link
    invalid = 1
    # The old kind has no flags, and needs a function.
    seen = guest.ask("gpu.call_back()")
    assert sorted(map(str, seen)) == sorted(map(str, [0, 0, invalid, invalid, 7, [True, 0, 8]]))
    assert guest.ask("gpu.capture_function()") == [7, 7]
