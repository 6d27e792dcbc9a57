from nvshare.daemon.clients.frame_values import memory_of, own_limits_of
from nvshare.wire import frames
from nvshare.wire.frames import LimitFlags
from nvshare.wire.frames import Memory as MemoryFrame


def frame(**values: int) -> MemoryFrame:
    names = ("allocated", "pinned", "swapped_out", "untouched", "kept", "ticket")
    return MemoryFrame(**{**dict.fromkeys(names, 0), **values})


def test_what_a_client_has() -> None:
    memory = memory_of(frame(allocated=9, pinned=4, swapped_out=3, untouched=2, kept=1))
    assert (memory.allocated, memory.pinned, memory.swapped) == (9, 4, 3)
    assert (memory.untouched, memory.kept, memory.context) == (2, 1, 0)


def test_the_limits_that_a_client_was_started_with() -> None:
    kind, flags = frames.AllocationKind.MANAGED, frames.HelloFlags(0)
    hello = frames.Hello(
        bytes(16), kind, flags, 0, 0, 0, 7, 100, LimitFlags.LOW, 0, bytes(16), "", 0
    )
    limits = own_limits_of(hello)
    assert (limits.memory_limit, limits.compute_percent, limits.priority) == (7, 100, "low")
