"""Explicit memory leaves only when no work can use it any more.

Unmapping memory that work still uses would end a program's context: each of these guests would get
the error.
"""

import os
import time

import pytest

from nvshare.wire.frames import (
    Evict,
    Memory,
    Moved,
    Released,
    SettingFlags,
    Settings,
    Standby,
    Want,
)

from .conftest import StartGuest
from .scripted import Scripted, hand_over_ends
from .swapper import MIB, Swapper

SIZE = 32 * MIB


@pytest.fixture
def swapper(scripted: Scripted, start_guest: StartGuest, environment: dict[str, str]) -> Swapper:
    swapper = Swapper(scripted, start_guest(NVSHARE_ALLOCATION="explicit"), environment)
    swapper.link.send(Settings(10_000_000, 10_000, SettingFlags(0), 0))  # much may be in flight
    swapper.link.until_taken_in()
    return swapper


def write(swapper: Swapper, pointer: int) -> int:
    """Write to memory in the newest stream, after the work that is in it already."""
    arguments = f"gpu.word({pointer}), 1, gpu.word(4096), gpu.streams[-1]"
    return int(swapper.guest.ask(f"gpu.cuda.cuMemsetD8Async({arguments})"))


def on_gpu(swapper: Swapper) -> int:
    return swapper.truth().plain_bytes


def test_work_in_every_context_is_waited_for(swapper: Swapper) -> None:
    """Of three contexts, the second has work, in a stream that no other waits for."""
    guest = swapper.guest
    pointer = swapper.allocate(32)
    assert guest.ask("[gpu.create(), gpu.create()]") == [0, 0]
    for number in (0, 1, 0):
        assert guest.ask(f"setattr(gpu, 'context', gpu.contexts[{number}])") is None
        assert guest.ask("[gpu.use(gpu.context), gpu.launch(), gpu.sync()]") == [0, 0, 0]
    before = swapper.truth().kernels
    assert guest.ask("gpu.launch(25, slow=True, stream=gpu.stream())") == 0
    assert write(swapper, pointer) == 0
    swapper.swap_out(32)
    assert on_gpu(swapper) == 0
    assert swapper.truth().kernels == before + 26
    swapper.grant()
    assert guest.ask("gpu.sync()") == 0
    assert guest.ask(f"[gpu.touch({pointer}), gpu.sync()]") == [0, 0]
    assert guest.end() == ""


def test_a_turn_ends_when_its_work_has_and_nothing_leaves_before(swapper: Swapper) -> None:
    guest = swapper.guest
    pointer = swapper.allocate(32)
    before = swapper.truth().kernels
    assert guest.ask("gpu.launch(25, slow=True, stream=gpu.stream())") == 0
    assert write(swapper, pointer) == 0
    swapper.revoke(SIZE)
    while (account := swapper.truth()).kernels < before + 26:
        assert account.plain_bytes == SIZE
    swapper.told(Released)
    assert swapper.moved().out_bytes == SIZE
    swapper.grant()
    assert guest.ask("gpu.sync()") == 0
    assert guest.end() == ""


BEGIN = "gpu.cuda.cuStreamBeginCapture_v2(gpu.stream(), 2)"
END = "gpu.cuda.cuStreamEndCapture(gpu.streams[-1], __import__('ctypes').byref(gpu.word(0)))"


def test_nothing_leaves_while_a_stream_is_captured(swapper: Swapper) -> None:
    """Then the work in flight is unknown. The memory counts as pinned until that is over."""
    guest = swapper.guest
    pointer = swapper.allocate(32)
    assert guest.ask(BEGIN) == 0
    assert write(swapper, pointer) == 0
    swapper.revoke(SIZE)
    released = swapper.told(Released)
    assert (released.swapped_out, released.left, released.pinned) == (0, 0, SIZE)
    swapper.link.send(Evict(SIZE))
    moved = swapper.told(Moved)
    assert (moved.out_bytes, moved.left, moved.swapped_out) == (0, 0, 0)
    assert on_gpu(swapper) == SIZE
    assert guest.ask(END) == 0
    while swapper.told(Memory).pinned:
        continue
    swapper.link.send(Evict(SIZE))
    assert swapper.moved().out_bytes == SIZE
    assert on_gpu(swapper) == 0
    swapper.grant()
    assert guest.ask(f"[gpu.touch({pointer}), gpu.sync()]") == [0, 0]
    assert guest.end() == ""


OUT_OF_MEMORY = 2


def test_a_turn_does_not_end_while_a_thread_is_inside(
    swapper: Swapper, start_guest: StartGuest
) -> None:
    """It has passed the gate, and looks for room on a GPU that has none for a fifth of a second."""
    guest = swapper.guest
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    code, plain = other.ask(f"gpu.alloc({200 * MIB})")
    assert code == 0
    allocates = f"gpu.codes.append(gpu.alloc({2 * SIZE})[0])"
    guest.ask(f"gpu.start('gpu.use(gpu.context) or {allocates}')")
    while not swapper.told(Memory).ticket:
        continue
    time.sleep(0.05)  # it has its answer, and goes in
    swapper.revoke(0)
    swapper.told(Released)
    # If the turn had ended before, it would find the present room.
    assert other.ask(f"gpu.free({plain})") == 0
    assert guest.ask("gpu.done(1, 10)")
    # Unless it was late, and came to a closed gate: then it gets its memory with the next turn.
    assert guest.ask("gpu.codes") == [OUT_OF_MEMORY] or on_gpu(swapper) == 0


def test_a_gate_does_not_open_by_itself_if_memory_was_allocated_behind_it(
    swapper: Swapper,
) -> None:
    """The turn is handed over by another program, which does not know of that."""
    guest = swapper.guest
    swapper.swap_out(0)
    guest.ask("gpu.start('gpu.launch()')")
    swapper.link.next(Want)
    ours, theirs = hand_over_ends()
    swapper.turn += 1
    swapper.link.send(Standby(swapper.turn, fill_bytes=0), theirs)
    swapper.link.until_taken_in()
    # It has addresses, and no memory yet.
    pointer = swapper.allocate(32)
    assert on_gpu(swapper) == 0
    guest.ask(f"gpu.start('gpu.touch({pointer})')")
    assert not guest.ask("gpu.done(2, 0.1)")
    os.write(ours, b"1")
    assert guest.ask("gpu.done(1, 10) and gpu.done(2, 10)")
    assert guest.ask("gpu.sync()") == 0
    assert on_gpu(swapper) == SIZE
    assert guest.end() == ""
