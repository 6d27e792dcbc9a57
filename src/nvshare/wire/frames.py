"""Every frame between libnvshare.so and the daemon, as an object. Does no I/O.

Generated from protocol/frames.toml by ``python -m protocol.generate``: do not edit.
The rules of the protocol are in that file; bytes to frames and back is nvshare.wire.codec.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct
from typing import ClassVar, TypeAlias

MAGIC = 0x4853564E
VERSION = 1
OLDEST_VERSION = 1
MAX_PAYLOAD = 4096
UNASKED_BYTES = 33554432

MOST_BYTES = 0x10000000000000  # 4 PiB: more than any GPU or host has
MOST_TURN = 0x4000000000000000  # more turns than can ever be given
MOST_GRANTED = 0x4000000000000000  # the same, and not none
MOST_MOVE = 0x4000000000000  # nanoseconds of one move: 13 days
MOST_COUNTER = 0x4000000000000000  # 146 years in nanoseconds, or as many calls
MOST_PERCENT = 0x64  # of a GPU
MOST_PPM = 0xF4240  # millionths of a GPU
MOST_CLOCK = 0x3B9ACA00  # thousandths: an emulated GPU a million times as fast as time; 0: as fast
MOST_BIT = 0x1  # no or yes
MOST_ANSWERED = 0xFFFFFFFF  # a number that is never 0
MOST_SLOT = 0x3FF  # QUOTA_SLOTS of quota.h

HEADER = Struct("<IHHII")


def _lengthen(payload: bytes | bytearray | memoryview, least: int, size: int) -> bytes:
    """Fill up what an earlier sender does not know yet."""
    if len(payload) < least:
        raise ValueError(f"only {len(payload)} bytes")
    return bytes(payload).ljust(size, b"\0")


class AllocationKind(IntEnum):
    """How the memory of a program is allocated."""

    MANAGED = 1  # managed memory, which can be moved out and in
    NATIVE = 2  # memory as the program asked for it, which stays on the GPU
    EXPLICIT = 3  # physical memory, which is copied out and in
    MIXED = 4  # the same, and managed memory where that had no room at once


class ReleaseReason(IntEnum):
    """Why a client gives its turn up."""

    IDLE = 1  # it had nothing to do
    TOLD = 2  # it was told to, now
    USED_UP = 3  # its share is used up for now


class UndrainedReason(IntEnum):
    """What shows that work in flight waits for the program itself."""

    FUNCTION = 1  # a host function has not returned
    STREAM = 2  # a call waits that would not have to wait for that work
    TIME = 3  # a call waits, and the work has not ended for very long


class Urgency(IntEnum):
    """When a turn has to be given up."""

    WHEN_IDLE = 1  # as soon as the client has had no work for a while
    NOW = 2  # at once: finish what is in flight


class RejectCode(IntEnum):
    """Why a client is turned away."""

    VERSION = 1  # the frames have another version
    DEVICE = 2  # the daemon has no GPU of this UUID
    PERMISSION = 3  # the user may not use this daemon
    FULL = 4  # there are too many clients
    PROTOCOL = 5  # invalid frames


class Verdict(IntEnum):
    """Whether memory may be allocated."""

    YES = 1  # it may
    HOST_FULL = 2  # no: the host has no room for what would have to leave the GPU
    TOO_LARGE = 3  # no: it has to be on the GPU as a whole, and cannot
    NOT_NOW = 4  # no context now: others could not come back beside it


class HelloFlags(IntFlag):
    """What a client is doing as it registers."""

    RESUMING = 1  # its gate is open, from an earlier daemon or without any
    WANTS = 2  # it waits for a turn, as if WANT followed
    UNDECIDED = 4  # it has allocated nothing, and does so as ALLOCATION says
    CAN_MANAGE = 8  # managed memory can be moved on this GPU
    CAN_MAP = 16  # memory can be mapped and unmapped, and all calls be seen
    SEVERAL = 32  # the process uses other GPUs as well
    ASKS_MANAGED = 64  # its environment says NVSHARE_ALLOCATION=managed
    ASKS_EXPLICIT = 128  # the same with explicit
    ASKS_NATIVE = 256  # the same with native
    ASKS_AUTO = 512  # the same with auto
    MAY_BE_LARGER = 1024  # its environment says NVSHARE_OVERSUBSCRIBE=1
    NO_CONTEXT = 2048  # it has no context on the GPU: the driver had no room for one
    CAN_HOLD = 4096  # it understands HOLD and STEP
    PATIENT = 8192  # its environment says NVSHARE_WAIT_NOTICE=0
    UNGRANTED = 16384  # RESUMING, although no daemon has given it a turn


class AllocationFlags(IntFlag):
    """What a client may do that was told how to allocate."""

    MIX = 1  # allocate managed memory where explicit memory has no room at once


class RevokeFlags(IntFlag):
    """How memory leaves when a turn ends."""

    DISPLACE = 1  # the next client displaces it, oldest arrival first; nothing to move


class LimitFlags(IntFlag):
    """How limits are meant. All of them are in limits.toml."""

    BURST = 1  # it may use more compute while no other program wants the GPU
    HIGH = 2  # it goes before others
    LOW = 4  # it takes what others leave


class SettingFlags(IntFlag):
    """What clients may do."""

    OVERSUBSCRIBE = 1  # one program may allocate more than the GPU has
    PROVIDES_HOST = 2  # take host memory for what moves explicitly from EXTENT only
    ANSWERS = 4  # ask whether the daemon listens (PING)


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame of a connection: this process uses this GPU.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 1
    LAYOUT: ClassVar[Struct] = Struct("<16sIIQQQQIIQ16s32sQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    device_uuid: bytes  # of the GPU, as cuDeviceGetUuid gives it
    allocation_kind: AllocationKind  # how its memory is allocated
    flags: HelloFlags  # what the client is doing
    allocated: int  # bytes allocated now, pinned ones included
    pinned: int  # bytes of those that cannot leave the GPU
    swapped_out: int  # bytes of those that the client has moved to the host
    memory_limit: int  # bytes, from its environment; 0: none
    compute_percent: int  # 1 to 100, from its environment; 0: none
    limit_flags: LimitFlags  # from its environment as well
    turn: int  # that it holds, or held last, from an earlier daemon; 0: none
    group: bytes  # token that `nvshare run` gave the process tree; zeros: none
    library_version: str  # of libnvshare.so
    slot_key: int  # of its slot in its group's page, from an earlier daemon; 0: none
    untouched: int = 0  # as in MEMORY
    kept: int = 0  # as in MEMORY

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 144, 0) + self.LAYOUT.pack(
            self.device_uuid,
            self.allocation_kind,
            self.flags,
            self.allocated,
            self.pinned,
            self.swapped_out,
            self.memory_limit,
            self.compute_percent,
            self.limit_flags,
            self.turn,
            self.group,
            self.library_version.encode()[:31],
            self.slot_key,
            self.untouched,
            self.kept,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Hello":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 144:
            payload = _lengthen(payload, 128, 144)
        (
            device_uuid,
            allocation_kind,
            flags,
            allocated,
            pinned,
            swapped_out,
            memory_limit,
            compute_percent,
            limit_flags,
            turn,
            group,
            library_version,
            slot_key,
            untouched,
            kept,
        ) = cls.LAYOUT.unpack_from(payload)
        if allocated > MOST_BYTES:
            raise ValueError(f"allocated of {allocated}")
        if pinned > MOST_BYTES:
            raise ValueError(f"pinned of {pinned}")
        if swapped_out > MOST_BYTES:
            raise ValueError(f"swapped_out of {swapped_out}")
        if memory_limit > MOST_BYTES:
            raise ValueError(f"memory_limit of {memory_limit}")
        if compute_percent > MOST_PERCENT:
            raise ValueError(f"compute_percent of {compute_percent}")
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if untouched > MOST_BYTES:
            raise ValueError(f"untouched of {untouched}")
        if kept > MOST_BYTES:
            raise ValueError(f"kept of {kept}")
        return cls(
            device_uuid,
            AllocationKind(allocation_kind),
            HelloFlags(flags & 0x7FFF),
            allocated,
            pinned,
            swapped_out,
            memory_limit,
            compute_percent,
            LimitFlags(limit_flags & 0x7),
            turn,
            group,
            library_version.split(b"\0", 1)[0].decode(errors="replace"),
            slot_key,
            untouched,
            kept,
        )


@dataclass(frozen=True, slots=True)
class Want:
    """The client has work and no turn. Sent once, until it is granted one.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 2
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the last turn that it held; 0: none

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.turn,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Want":
        """Read the fields; there may be more bytes behind them."""
        (turn,) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        return cls(
            turn,
        )


@dataclass(frozen=True, slots=True)
class Released:
    """The client's gate is closed and its work has drained.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 3
    LAYOUT: ClassVar[Struct] = Struct("<QIIQQQQQQQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that it gives back
    reason: ReleaseReason  # why
    wants: int  # 1: it has more work, as if WANT followed; 0: not now
    handed_turn: int  # the turn that it has handed over itself; 0: none
    allocated: int  # as in MEMORY
    pinned: int  # as in MEMORY
    swapped_out: int  # as in MEMORY; what is still on its way counts
    moved_bytes: int  # moved to the host since it was asked; 0: nothing measured
    moved_ns: int  # time that this took
    left: int = 0  # as in MOVED
    untouched: int = 0  # as in MEMORY
    kept: int = 0  # as in MEMORY

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 88, 0) + self.LAYOUT.pack(
            self.turn,
            self.reason,
            self.wants,
            self.handed_turn,
            self.allocated,
            self.pinned,
            self.swapped_out,
            self.moved_bytes,
            self.moved_ns,
            self.left,
            self.untouched,
            self.kept,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Released":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 88:
            payload = _lengthen(payload, 64, 88)
        (
            turn,
            reason,
            wants,
            handed_turn,
            allocated,
            pinned,
            swapped_out,
            moved_bytes,
            moved_ns,
            left,
            untouched,
            kept,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if wants > MOST_BIT:
            raise ValueError(f"wants of {wants}")
        if handed_turn > MOST_TURN:
            raise ValueError(f"handed_turn of {handed_turn}")
        if allocated > MOST_BYTES:
            raise ValueError(f"allocated of {allocated}")
        if pinned > MOST_BYTES:
            raise ValueError(f"pinned of {pinned}")
        if swapped_out > MOST_BYTES:
            raise ValueError(f"swapped_out of {swapped_out}")
        if moved_bytes > MOST_BYTES:
            raise ValueError(f"moved_bytes of {moved_bytes}")
        if moved_ns > MOST_MOVE:
            raise ValueError(f"moved_ns of {moved_ns}")
        if left > MOST_BYTES:
            raise ValueError(f"left of {left}")
        if untouched > MOST_BYTES:
            raise ValueError(f"untouched of {untouched}")
        if kept > MOST_BYTES:
            raise ValueError(f"kept of {kept}")
        return cls(
            turn,
            ReleaseReason(reason),
            wants,
            handed_turn,
            allocated,
            pinned,
            swapped_out,
            moved_bytes,
            moved_ns,
            left,
            untouched,
            kept,
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """What the client has allocated has changed, or with a ticket: is to change.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 4
    LAYOUT: ClassVar[Struct] = Struct("<QQQQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    allocated: int  # bytes allocated, pinned ones included
    pinned: int  # bytes of those that cannot leave the GPU
    swapped_out: int  # bytes of those that the client has moved to the host
    ticket: int  # a number that ANSWER repeats; 0: no thread waits for one
    untouched: int = 0  # bytes of swapped_out that were never used: they are nowhere
    kept: int = 0  # bytes that have pages on the host, be they out or back

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 48, 0) + self.LAYOUT.pack(
            self.allocated,
            self.pinned,
            self.swapped_out,
            self.ticket,
            self.untouched,
            self.kept,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Memory":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 48:
            payload = _lengthen(payload, 32, 48)
        (
            allocated,
            pinned,
            swapped_out,
            ticket,
            untouched,
            kept,
        ) = cls.LAYOUT.unpack_from(payload)
        if allocated > MOST_BYTES:
            raise ValueError(f"allocated of {allocated}")
        if pinned > MOST_BYTES:
            raise ValueError(f"pinned of {pinned}")
        if swapped_out > MOST_BYTES:
            raise ValueError(f"swapped_out of {swapped_out}")
        if untouched > MOST_BYTES:
            raise ValueError(f"untouched of {untouched}")
        if kept > MOST_BYTES:
            raise ValueError(f"kept of {kept}")
        return cls(
            allocated,
            pinned,
            swapped_out,
            ticket,
            untouched,
            kept,
        )


@dataclass(frozen=True, slots=True)
class Moved:
    """The client has moved memory in bulk, with progress on the way. Also answers EVICT and TRIM.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 5
    LAYOUT: ClassVar[Struct] = Struct("<QQQQQQQQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # that it holds, or held last; 0: none
    allocated: int  # as in MEMORY
    pinned: int  # as in MEMORY
    swapped_out: int  # as in MEMORY
    out_bytes: int  # from the GPU to the host
    in_bytes: int  # from the host to the GPU
    ns: int  # time that this took
    left: int = 0  # bytes on their way to the host that have not left yet; 0: all have
    untouched: int = 0  # as in MEMORY
    kept: int = 0  # as in MEMORY

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 80, 0) + self.LAYOUT.pack(
            self.turn,
            self.allocated,
            self.pinned,
            self.swapped_out,
            self.out_bytes,
            self.in_bytes,
            self.ns,
            self.left,
            self.untouched,
            self.kept,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Moved":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 80:
            payload = _lengthen(payload, 56, 80)
        (
            turn,
            allocated,
            pinned,
            swapped_out,
            out_bytes,
            in_bytes,
            ns,
            left,
            untouched,
            kept,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if allocated > MOST_BYTES:
            raise ValueError(f"allocated of {allocated}")
        if pinned > MOST_BYTES:
            raise ValueError(f"pinned of {pinned}")
        if swapped_out > MOST_BYTES:
            raise ValueError(f"swapped_out of {swapped_out}")
        if out_bytes > MOST_BYTES:
            raise ValueError(f"out_bytes of {out_bytes}")
        if in_bytes > MOST_BYTES:
            raise ValueError(f"in_bytes of {in_bytes}")
        if ns > MOST_MOVE:
            raise ValueError(f"ns of {ns}")
        if left > MOST_BYTES:
            raise ValueError(f"left of {left}")
        if untouched > MOST_BYTES:
            raise ValueError(f"untouched of {untouched}")
        if kept > MOST_BYTES:
            raise ValueError(f"kept of {kept}")
        return cls(
            turn,
            allocated,
            pinned,
            swapped_out,
            out_bytes,
            in_bytes,
            ns,
            left,
            untouched,
            kept,
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Counters since the process began to use the GPU. They only grow.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 6
    LAYOUT: ClassVar[Struct] = Struct("<QQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    busy_ns: int  # time in which it is known to have had work on the GPU
    launches: int  # calls that gave the GPU work, without each thread's last few
    throttled_ns: int  # time that it was held back by its share of compute
    gpu_ns: int  # GPU time that it has used while it had a share, as measured

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 32, 0) + self.LAYOUT.pack(
            self.busy_ns,
            self.launches,
            self.throttled_ns,
            self.gpu_ns,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Usage":
        """Read the fields; there may be more bytes behind them."""
        (
            busy_ns,
            launches,
            throttled_ns,
            gpu_ns,
        ) = cls.LAYOUT.unpack_from(payload)
        if busy_ns > MOST_COUNTER:
            raise ValueError(f"busy_ns of {busy_ns}")
        if launches > MOST_COUNTER:
            raise ValueError(f"launches of {launches}")
        if throttled_ns > MOST_COUNTER:
            raise ValueError(f"throttled_ns of {throttled_ns}")
        if gpu_ns > MOST_COUNTER:
            raise ValueError(f"gpu_ns of {gpu_ns}")
        return cls(
            busy_ns,
            launches,
            throttled_ns,
            gpu_ns,
        )


@dataclass(frozen=True, slots=True)
class Allocates:
    """From now on the client allocates in another way than it said in HELLO, or was told.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 7
    LAYOUT: ClassVar[Struct] = Struct("<I4x")
    DESCRIPTOR: ClassVar[bool] = False

    allocation_kind: AllocationKind  # how its memory is allocated

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.allocation_kind,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Allocates":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 8:
            payload = _lengthen(payload, 4, 8)
        (allocation_kind,) = cls.LAYOUT.unpack_from(payload)
        return cls(
            AllocationKind(allocation_kind),
        )


@dataclass(frozen=True, slots=True)
class Pinned:
    """What cannot leave the GPU, by reason. Follows MEMORY, if it has changed.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 8
    LAYOUT: ClassVar[Struct] = Struct("<QQQQQQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    as_asked: int  # bytes as the program asked for them: memory is not to move
    handles: int  # bytes by cuMemCreate that are the driver's own
    rdma: int  # the same, and asked for as memory for RDMA
    exported: int  # bytes by cuMemCreate that others have
    several_gpus: int  # bytes that other GPUs of the program may reach
    pools: int  # bytes from pools that are the driver's own
    arrays: int  # bytes of arrays
    graphs: int = 0  # bytes that the driver holds for graphs

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 64, 0) + self.LAYOUT.pack(
            self.as_asked,
            self.handles,
            self.rdma,
            self.exported,
            self.several_gpus,
            self.pools,
            self.arrays,
            self.graphs,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Pinned":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 64:
            payload = _lengthen(payload, 56, 64)
        (
            as_asked,
            handles,
            rdma,
            exported,
            several_gpus,
            pools,
            arrays,
            graphs,
        ) = cls.LAYOUT.unpack_from(payload)
        if as_asked > MOST_BYTES:
            raise ValueError(f"as_asked of {as_asked}")
        if handles > MOST_BYTES:
            raise ValueError(f"handles of {handles}")
        if rdma > MOST_BYTES:
            raise ValueError(f"rdma of {rdma}")
        if exported > MOST_BYTES:
            raise ValueError(f"exported of {exported}")
        if several_gpus > MOST_BYTES:
            raise ValueError(f"several_gpus of {several_gpus}")
        if pools > MOST_BYTES:
            raise ValueError(f"pools of {pools}")
        if arrays > MOST_BYTES:
            raise ValueError(f"arrays of {arrays}")
        if graphs > MOST_BYTES:
            raise ValueError(f"graphs of {graphs}")
        return cls(
            as_asked,
            handles,
            rdma,
            exported,
            several_gpus,
            pools,
            arrays,
            graphs,
        )


@dataclass(frozen=True, slots=True)
class Host:
    """What the client holds of the host memory that the daemon has made, and what it may need.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 9
    LAYOUT: ClassVar[Struct] = Struct("<QQQQ")
    DESCRIPTOR: ClassVar[bool] = False

    received: int  # bytes of all EXTENTs that have come on this connection
    held: int  # bytes that it holds now, from whatever daemon
    most: int  # bytes that it could need if all that moves explicitly were out
    lacking: int  # bytes beyond those held that a move waits for; 0: none does

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 32, 0) + self.LAYOUT.pack(
            self.received,
            self.held,
            self.most,
            self.lacking,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Host":
        """Read the fields; there may be more bytes behind them."""
        (
            received,
            held,
            most,
            lacking,
        ) = cls.LAYOUT.unpack_from(payload)
        if received > MOST_BYTES:
            raise ValueError(f"received of {received}")
        if held > MOST_BYTES:
            raise ValueError(f"held of {held}")
        if most > MOST_BYTES:
            raise ValueError(f"most of {most}")
        if lacking > MOST_BYTES:
            raise ValueError(f"lacking of {lacking}")
        return cls(
            received,
            held,
            most,
            lacking,
        )


@dataclass(frozen=True, slots=True)
class CannotDrain:
    """What is in flight waits for calls at the gate, which is open again: REVOKE or HOLD is void.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 10
    LAYOUT: ClassVar[Struct] = Struct("<QII")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # that it holds, and goes on with
    reason: UndrainedReason  # how the client knows
    number: int = 0  # of the HOLD or STEP before; 0: it was REVOKE

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.reason,
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "CannotDrain":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 16:
            payload = _lengthen(payload, 12, 16)
        (
            turn,
            reason,
            number,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        return cls(
            turn,
            UndrainedReason(reason),
            number,
        )


@dataclass(frozen=True, slots=True)
class CanDrain:
    """What could not drain has come to its end: it is worth while to send REVOKE again.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 11
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # of CANNOT_DRAIN

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.turn,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "CanDrain":
        """Read the fields; there may be more bytes behind them."""
        (turn,) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        return cls(
            turn,
        )


@dataclass(frozen=True, slots=True)
class Context:
    """The driver has no room for one more context: ANSWER comes when there is.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 12
    LAYOUT: ClassVar[Struct] = Struct("<QQ")
    DESCRIPTOR: ClassVar[bool] = False

    ticket: int  # as in MEMORY; 0: it does not ask, or has asked in vain
    has_context: int  # 1: it has one there; 0: it has none

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.ticket,
            self.has_context,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Context":
        """Read the fields; there may be more bytes behind them."""
        (
            ticket,
            has_context,
        ) = cls.LAYOUT.unpack_from(payload)
        if has_context > MOST_BIT:
            raise ValueError(f"has_context of {has_context}")
        return cls(
            ticket,
            has_context,
        )


@dataclass(frozen=True, slots=True)
class Held:
    """Behind the gate that HOLD has closed nothing is in flight, or a thread begins to wait.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 13
    LAYOUT: ClassVar[Struct] = Struct("<QII")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # that it holds, and keeps
    waits: int  # 1: a thread waits at the gate; 0: none does
    number: int  # of the HOLD or STEP that it answers

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.waits,
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Held":
        """Read the fields; there may be more bytes behind them."""
        (
            turn,
            waits,
            number,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if waits > MOST_BIT:
            raise ValueError(f"waits of {waits}")
        if number < 1:
            raise ValueError(f"number of {number}")
        return cls(
            turn,
            waits,
            number,
        )


@dataclass(frozen=True, slots=True)
class Ping:
    """Does the daemon listen? A thread waits, and nothing has come. Only if SETTINGS say ANSWERS.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 14
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    number: int  # comes back with PONG

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Ping":
        """Read the fields; there may be more bytes behind them."""
        return cls(*cls.LAYOUT.unpack_from(payload))


@dataclass(frozen=True, slots=True)
class Refused:
    """How often the client itself has refused memory since HELLO. Sent when that changes.

    From client to daemon.
    """

    TYPE: ClassVar[int] = 15
    LAYOUT: ClassVar[Struct] = Struct("<QQ")
    DESCRIPTOR: ClassVar[bool] = False

    over_limit: int  # times that the memory limit would have been passed
    over_gpu: int  # times that it would have been more than the GPU has

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.over_limit,
            self.over_gpu,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Refused":
        """Read the fields; there may be more bytes behind them."""
        (
            over_limit,
            over_gpu,
        ) = cls.LAYOUT.unpack_from(payload)
        if over_limit > MOST_COUNTER:
            raise ValueError(f"over_limit of {over_limit}")
        if over_gpu > MOST_COUNTER:
            raise ValueError(f"over_gpu of {over_gpu}")
        return cls(
            over_limit,
            over_gpu,
        )


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to HELLO: the client is registered.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 129
    LAYOUT: ClassVar[Struct] = Struct("<Q32s")
    DESCRIPTOR: ClassVar[bool] = False

    client_id: int  # its number in this daemon
    daemon_version: str  # of the daemon

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 40, 0) + self.LAYOUT.pack(
            self.client_id,
            self.daemon_version.encode()[:31],
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Welcome":
        """Read the fields; there may be more bytes behind them."""
        (
            client_id,
            daemon_version,
        ) = cls.LAYOUT.unpack_from(payload)
        return cls(
            client_id,
            daemon_version.split(b"\0", 1)[0].decode(errors="replace"),
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """The gate may open.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 130
    LAYOUT: ClassVar[Struct] = Struct("<QQQ")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # number of the turn; a later one is larger
    fill_bytes: int  # of its memory to bring back before it starts; 0: as it sees fit
    missing: int = 0  # of what it brings back, bytes that others have still to make room for

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 24, 0) + self.LAYOUT.pack(
            self.turn,
            self.fill_bytes,
            self.missing,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Grant":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 24:
            payload = _lengthen(payload, 16, 24)
        (
            turn,
            fill_bytes,
            missing,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn < 1 or turn > MOST_GRANTED:
            raise ValueError(f"turn of {turn}")
        if fill_bytes > MOST_BYTES:
            raise ValueError(f"fill_bytes of {fill_bytes}")
        if missing > MOST_BYTES:
            raise ValueError(f"missing of {missing}")
        return cls(
            turn,
            fill_bytes,
            missing,
        )


@dataclass(frozen=True, slots=True)
class Revoke:
    """Give the turn up: close the gate, let work in flight drain, send RELEASED.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 131
    LAYOUT: ClassVar[Struct] = Struct("<QIIQI4x")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that ends
    urgency: Urgency  # when
    idle_us: int  # with WHEN_IDLE: how long without work
    evict_bytes: int  # to move to the host as it gives the turn up
    flags: RevokeFlags = RevokeFlags(0)  # how that is to leave

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 32, 0) + self.LAYOUT.pack(
            self.turn,
            self.urgency,
            self.idle_us,
            self.evict_bytes,
            self.flags,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Revoke":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 32:
            payload = _lengthen(payload, 24, 32)
        (
            turn,
            urgency,
            idle_us,
            evict_bytes,
            flags,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if evict_bytes > MOST_BYTES:
            raise ValueError(f"evict_bytes of {evict_bytes}")
        return cls(
            turn,
            Urgency(urgency),
            idle_us,
            evict_bytes,
            RevokeFlags(flags & 0x1),
        )


@dataclass(frozen=True, slots=True)
class Keep:
    """No client waits any more: REVOKE, HOLD and HANDOVER of this turn are void.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 132
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that goes on

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.turn,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Keep":
        """Read the fields; there may be more bytes behind them."""
        (turn,) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        return cls(
            turn,
        )


@dataclass(frozen=True, slots=True)
class Handover:
    """To the holder: when you release this turn, write to the socket before you send RELEASED.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 133
    LAYOUT: ClassVar[Struct] = Struct("<QQ")
    DESCRIPTOR: ClassVar[bool] = True

    turn: int  # the turn that the receiver holds
    next_turn: int  # the turn that begins with the write

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.next_turn,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Handover":
        """Read the fields; there may be more bytes behind them."""
        (
            turn,
            next_turn,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if next_turn < 1 or next_turn > MOST_GRANTED:
            raise ValueError(f"next_turn of {next_turn}")
        return cls(
            turn,
            next_turn,
        )


@dataclass(frozen=True, slots=True)
class Standby:
    """To the next client: when the socket is readable, you hold this turn, as if GRANT had come.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 134
    LAYOUT: ClassVar[Struct] = Struct("<QQQ")
    DESCRIPTOR: ClassVar[bool] = True

    turn: int  # the turn that begins then
    fill_bytes: int  # as in GRANT
    missing: int = 0  # as in GRANT

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 24, 0) + self.LAYOUT.pack(
            self.turn,
            self.fill_bytes,
            self.missing,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Standby":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 24:
            payload = _lengthen(payload, 16, 24)
        (
            turn,
            fill_bytes,
            missing,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn < 1 or turn > MOST_GRANTED:
            raise ValueError(f"turn of {turn}")
        if fill_bytes > MOST_BYTES:
            raise ValueError(f"fill_bytes of {fill_bytes}")
        if missing > MOST_BYTES:
            raise ValueError(f"missing of {missing}")
        return cls(
            turn,
            fill_bytes,
            missing,
        )


@dataclass(frozen=True, slots=True)
class CancelHandover:
    """HANDOVER of this turn is void: wake no client when you release it.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 135
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that the receiver holds

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.turn,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "CancelHandover":
        """Read the fields; there may be more bytes behind them."""
        (turn,) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        return cls(
            turn,
        )


@dataclass(frozen=True, slots=True)
class Evict:
    """To a client without a turn: move memory to the host, and answer with MOVED.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 136
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    evict_bytes: int  # to move

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.evict_bytes,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Evict":
        """Read the fields; there may be more bytes behind them."""
        (evict_bytes,) = cls.LAYOUT.unpack_from(payload)
        if evict_bytes > MOST_BYTES:
            raise ValueError(f"evict_bytes of {evict_bytes}")
        return cls(
            evict_bytes,
        )


@dataclass(frozen=True, slots=True)
class Fill:
    """To a client that waits for a turn: bring memory back ahead of it, and answer with MOVED.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 150
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    fill_bytes: int  # to bring back: there is room for this much; 0: no more

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.fill_bytes,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Fill":
        """Read the fields; there may be more bytes behind them."""
        (fill_bytes,) = cls.LAYOUT.unpack_from(payload)
        if fill_bytes > MOST_BYTES:
            raise ValueError(f"fill_bytes of {fill_bytes}")
        return cls(
            fill_bytes,
        )


@dataclass(frozen=True, slots=True)
class Trim:
    """To a client with a turn: move memory to the host meanwhile, and answer with MOVED.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 142
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    trim_bytes: int  # to move

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.trim_bytes,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Trim":
        """Read the fields; there may be more bytes behind them."""
        (trim_bytes,) = cls.LAYOUT.unpack_from(payload)
        if trim_bytes > MOST_BYTES:
            raise ValueError(f"trim_bytes of {trim_bytes}")
        return cls(
            trim_bytes,
        )


@dataclass(frozen=True, slots=True)
class Room:
    """To a client that brings memory back, or moved some out by TRIM: there is room by now.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 143
    LAYOUT: ClassVar[Struct] = Struct("<QQ")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that it holds
    missing: int  # as in GRANT, by now

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.missing,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Room":
        """Read the fields; there may be more bytes behind them."""
        (
            turn,
            missing,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if missing > MOST_BYTES:
            raise ValueError(f"missing of {missing}")
        return cls(
            turn,
            missing,
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force. Sent after WELCOME if there are any, and at every change.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 137
    LAYOUT: ClassVar[Struct] = Struct("<Q4xIIIII")
    DESCRIPTOR: ClassVar[bool] = False

    memory_limit: int  # bytes, for a client without a page of its group; 0: none
    flags: LimitFlags  # how the limits are meant
    share_ppm: int  # millionths of the GPU's time that it may use; 0: all of it
    window_us: int  # within which the share is to be kept, in microseconds
    own_ppm: int  # millionths of what its events measure that are its own
    clock: int  # thousandths of ours: an emulated GPU has its own time

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 32, 0) + self.LAYOUT.pack(
            self.memory_limit,
            self.flags,
            self.share_ppm,
            self.window_us,
            self.own_ppm,
            self.clock,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Limits":
        """Read the fields; there may be more bytes behind them."""
        (
            memory_limit,
            flags,
            share_ppm,
            window_us,
            own_ppm,
            clock,
        ) = cls.LAYOUT.unpack_from(payload)
        if memory_limit > MOST_BYTES:
            raise ValueError(f"memory_limit of {memory_limit}")
        if share_ppm > MOST_PPM:
            raise ValueError(f"share_ppm of {share_ppm}")
        if own_ppm > MOST_PPM:
            raise ValueError(f"own_ppm of {own_ppm}")
        if clock > MOST_CLOCK:
            raise ValueError(f"clock of {clock}")
        return cls(
            memory_limit,
            LimitFlags(flags & 0x7),
            share_ppm,
            window_us,
            own_ppm,
            clock,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """How a client bounds its work. Sent after WELCOME and at every change.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 138
    LAYOUT: ClassVar[Struct] = Struct("<IIII")
    DESCRIPTOR: ClassVar[bool] = False

    inflight_us: int  # most work in flight, in microseconds
    idle_grace_us: int  # a client without work for this long is idle
    flags: SettingFlags  # what the client may do
    usage_ms: int  # milliseconds between two USAGE; 0: as usual

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.inflight_us,
            self.idle_grace_us,
            self.flags,
            self.usage_ms,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Settings":
        """Read the fields; there may be more bytes behind them."""
        (
            inflight_us,
            idle_grace_us,
            flags,
            usage_ms,
        ) = cls.LAYOUT.unpack_from(payload)
        return cls(
            inflight_us,
            idle_grace_us,
            SettingFlags(flags & 0x7),
            usage_ms,
        )


@dataclass(frozen=True, slots=True)
class Pong:
    """The daemon listens.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 151
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    number: int  # of the PING

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Pong":
        """Read the fields; there may be more bytes behind them."""
        return cls(*cls.LAYOUT.unpack_from(payload))


@dataclass(frozen=True, slots=True)
class Reject:
    """The daemon will not have this client. It closes the connection after this frame.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 139
    LAYOUT: ClassVar[Struct] = Struct("<I4x128s")
    DESCRIPTOR: ClassVar[bool] = False

    code: RejectCode  # why
    text: str  # the same for a person

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 136, 0) + self.LAYOUT.pack(
            self.code,
            self.text.encode()[:127],
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Reject":
        """Read the fields; there may be more bytes behind them."""
        (
            code,
            text,
        ) = cls.LAYOUT.unpack_from(payload)
        return cls(
            RejectCode(code),
            text.split(b"\0", 1)[0].decode(errors="replace"),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """To a MEMORY or CONTEXT with a ticket. A REVOKE that follows from it has come before.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 140
    LAYOUT: ClassVar[Struct] = Struct("<QI4xQ")
    DESCRIPTOR: ClassVar[bool] = False

    ticket: int  # of that frame
    verdict: Verdict  # whether it may be allocated
    missing: int  # bytes that others are still moving out to make room for it

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 24, 0) + self.LAYOUT.pack(
            self.ticket,
            self.verdict,
            self.missing,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Answer":
        """Read the fields; there may be more bytes behind them."""
        (
            ticket,
            verdict,
            missing,
        ) = cls.LAYOUT.unpack_from(payload)
        if missing > MOST_BYTES:
            raise ValueError(f"missing of {missing}")
        return cls(
            ticket,
            Verdict(verdict),
            missing,
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the people who run the program: the client prints it as a warning.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 144
    LAYOUT: ClassVar[Struct] = Struct("<512s")
    DESCRIPTOR: ClassVar[bool] = False

    text: str  # what has happened, and what to do

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 512, 0) + self.LAYOUT.pack(
            self.text.encode()[:511],
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Notice":
        """Read the fields; there may be more bytes behind them."""
        (text,) = cls.LAYOUT.unpack_from(payload)
        return cls(
            text.split(b"\0", 1)[0].decode(errors="replace"),
        )


@dataclass(frozen=True, slots=True)
class Quota:
    """Where the limits of the client's group are, and its place there (quota.h). Before WELCOME.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 141
    LAYOUT: ClassVar[Struct] = Struct("<I4xQ")
    DESCRIPTOR: ClassVar[bool] = True

    slot: int  # its number in the page that the descriptor is of
    slot_key: int  # drawn by the daemon: a client that names it later has this slot

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.slot,
            self.slot_key,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Quota":
        """Read the fields; there may be more bytes behind them."""
        (
            slot,
            slot_key,
        ) = cls.LAYOUT.unpack_from(payload)
        if slot > MOST_SLOT:
            raise ValueError(f"slot of {slot}")
        return cls(
            slot,
            slot_key,
        )


@dataclass(frozen=True, slots=True)
class Allocation:
    """How a client that is UNDECIDED is to allocate. Before WELCOME, and only once.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 145
    LAYOUT: ClassVar[Struct] = Struct("<II")
    DESCRIPTOR: ClassVar[bool] = False

    allocation_kind: AllocationKind  # as the daemon has decided
    flags: AllocationFlags  # what the client may do beside that

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.allocation_kind,
            self.flags,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Allocation":
        """Read the fields; there may be more bytes behind them."""
        (
            allocation_kind,
            flags,
        ) = cls.LAYOUT.unpack_from(payload)
        return cls(
            AllocationKind(allocation_kind),
            AllocationFlags(flags & 0x1),
        )


@dataclass(frozen=True, slots=True)
class Extent:
    """Host memory for what leaves the GPU: a memory file, the client's alone from now on.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 146
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = True

    size: int  # its size: whole pages of 2 MiB

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.size,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Extent":
        """Read the fields; there may be more bytes behind them."""
        (size,) = cls.LAYOUT.unpack_from(payload)
        if size > MOST_BYTES:
            raise ValueError(f"size of {size}")
        return cls(
            size,
        )


@dataclass(frozen=True, slots=True)
class HostFull:
    """No more host memory can be made now: what lacks a place has to stay on the GPU.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 147
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    DESCRIPTOR: ClassVar[bool] = False

    held: int  # bytes that it has, as the daemon counts

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 8, 0) + self.LAYOUT.pack(
            self.held,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "HostFull":
        """Read the fields; there may be more bytes behind them."""
        (held,) = cls.LAYOUT.unpack_from(payload)
        if held > MOST_BYTES:
            raise ValueError(f"held of {held}")
        return cls(
            held,
        )


@dataclass(frozen=True, slots=True)
class Hold:
    """Close the gate, let work in flight drain, keep the turn and all memory, send HELD.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 148
    LAYOUT: ClassVar[Struct] = Struct("<QI4x")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that the receiver holds
    number: int  # that HELD and CANNOT_DRAIN repeat; not 0

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Hold":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 16:
            payload = _lengthen(payload, 12, 16)
        (
            turn,
            number,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if number < 1:
            raise ValueError(f"number of {number}")
        return cls(
            turn,
            number,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """To a client that has said HELD: let one call pass, let it drain, send HELD again.

    From daemon to client.
    """

    TYPE: ClassVar[int] = 149
    LAYOUT: ClassVar[Struct] = Struct("<QI4x")
    DESCRIPTOR: ClassVar[bool] = False

    turn: int  # the turn that the receiver holds
    number: int  # that HELD and CANNOT_DRAIN repeat; not 0

    def pack(self) -> bytes:
        """The payload, with its header."""
        return HEADER.pack(MAGIC, 1, self.TYPE, 16, 0) + self.LAYOUT.pack(
            self.turn,
            self.number,
        )

    @classmethod
    def unpack(cls, payload: bytes | bytearray | memoryview) -> "Step":
        """Read the fields; there may be more bytes behind them."""
        if len(payload) < 16:
            payload = _lengthen(payload, 12, 16)
        (
            turn,
            number,
        ) = cls.LAYOUT.unpack_from(payload)
        if turn > MOST_TURN:
            raise ValueError(f"turn of {turn}")
        if number < 1:
            raise ValueError(f"number of {number}")
        return cls(
            turn,
            number,
        )


FromClient: TypeAlias = (
    Hello
    | Want
    | Released
    | Memory
    | Moved
    | Usage
    | Allocates
    | Pinned
    | Host
    | CannotDrain
    | CanDrain
    | Context
    | Held
    | Ping
    | Refused
)
FromDaemon: TypeAlias = (
    Welcome
    | Grant
    | Revoke
    | Keep
    | Handover
    | Standby
    | CancelHandover
    | Evict
    | Fill
    | Trim
    | Room
    | Limits
    | Settings
    | Pong
    | Reject
    | Answer
    | Notice
    | Quota
    | Allocation
    | Extent
    | HostFull
    | Hold
    | Step
)
Frame: TypeAlias = FromClient | FromDaemon
