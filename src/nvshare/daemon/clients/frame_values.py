"""What clients say about themselves in frames, as values. nvshare.wire checks ranges."""

from nvshare.core.memory import Kind, Memory
from nvshare.limits.table import LIMITS
from nvshare.settings import ClientLimits
from nvshare.wire import frames

KINDS = {
    frames.AllocationKind.MANAGED: Kind.MANAGED,
    frames.AllocationKind.NATIVE: Kind.NATIVE,
    frames.AllocationKind.EXPLICIT: Kind.EXPLICIT,
    frames.AllocationKind.MIXED: Kind.MIXED,
}


def memory_of(frame: frames.Hello | frames.Released | frames.Memory | frames.Moved) -> Memory:
    """Return the memory that a client reports, without its context."""
    return Memory(frame.allocated, frame.pinned, frame.swapped_out, frame.untouched, frame.kept)


def own_limits_of(hello: frames.Hello) -> ClientLimits:
    """Return the limits that a client was started with."""
    flags = int(hello.limit_flags)
    return ClientLimits(**{one.name: one.from_frame(hello, flags) for one in LIMITS})
