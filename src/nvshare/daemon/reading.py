"""What clients say of themselves in their frames, as values. Ranges are checked in nvshare.wire."""

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


class Rejection(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The client is turned away."""

    def __init__(self, code: frames.RejectCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def memory_of(frame: frames.Hello | frames.Released | frames.Memory | frames.Moved) -> Memory:
    """Return what a client says it has, without its context."""
    return Memory(frame.allocated, frame.pinned, frame.swapped_out, frame.untouched, frame.kept)


def own_limits_of(hello: frames.Hello) -> ClientLimits:
    """Return the limits that a client was started with."""
    flags = int(hello.limit_flags)
    return ClientLimits(**{one.name: one.from_frame(hello, flags) for one in LIMITS})
