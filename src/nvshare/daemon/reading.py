"""What clients say of themselves in their frames, as values. What is beyond reason is refused."""

from dataclasses import astuple

from nvshare.core.memory import Memory
from nvshare.telemetry.settings import ClientLimits
from nvshare.wire import frames

# Numbers that are beyond all reason, but leave room for sums and successors in 64 bits.
MOST_BYTES = 1 << 52
MOST_TURNS = 1 << 52


class Rejection(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The client is turned away."""

    def __init__(self, code: frames.RejectCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def memory_of(frame: frames.Hello | frames.Released | frames.Memory | frames.Moved) -> Memory:
    """Return what a client says it has, without its context."""
    memory = Memory(frame.allocated, frame.pinned, frame.swapped_out, frame.untouched, frame.kept)
    if max(astuple(memory)) > MOST_BYTES:
        raise Rejection(frames.RejectCode.PROTOCOL, "no GPU has that much memory")
    return memory


def own_limits_of(hello: frames.Hello) -> ClientLimits:
    """Return the limits that a client was started with."""
    if hello.compute_percent > 100:
        raise Rejection(frames.RejectCode.PROTOCOL, f"a share of {hello.compute_percent} percent")
    if hello.memory_limit > MOST_BYTES:
        raise Rejection(frames.RejectCode.PROTOCOL, "no GPU has as much memory as that limit")
    flags = hello.limit_flags
    high, low = flags & frames.LimitFlags.HIGH, flags & frames.LimitFlags.LOW
    return ClientLimits(
        memory_limit=hello.memory_limit or None,
        compute_percent=hello.compute_percent or None,
        burst=True if flags & frames.LimitFlags.BURST else None,
        priority="high" if high else "low" if low else None,
    )
