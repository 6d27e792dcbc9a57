"""The enumerations of native/machine/machine.h, under the same names. A test compares them."""

from enum import IntEnum, IntFlag


class State(IntEnum):
    """Where a client is in its life; native/machine/table.c says what each means."""

    NEW = 0
    ALONE = 1
    RETURNING = 2
    CLOSED = 3
    LEAVING = 4
    FILLING = 5
    GROWING = 6
    OPEN = 7
    WATCHED = 8
    CLOSING = 9
    STOPPING = 10


class Event(IntEnum):
    """What can happen."""

    GREET = 0
    WELCOME = 1
    LOST = 2
    GRANT = 3
    HANDED = 4
    STANDBY = 5
    PASS_TO = 6
    CANCEL_PASS = 7
    REVOKE = 8
    KEEP = 9
    ROOM = 10
    EVICT = 11
    DISARMED = 12
    TRIM = 13
    GROW = 14
    GREW = 15
    WORK = 16
    DRAINED = 17
    CANNOT_DRAIN = 18
    IDLE = 19
    USED_UP = 20
    PROGRESS = 21
    MOVED = 22


class Act(IntEnum):
    """What is to be done."""

    OPEN = 0
    CLOSE = 1
    REFUSE = 2
    WATCH = 3
    DRAIN = 4
    AWAIT_GROWTH = 5
    CONTEND = 6
    ARM_GATE = 7
    ARM_SESSION = 8
    DISARM = 9
    DISARM_OR_BEGIN = 10
    HAND_ON = 11
    DROP = 12
    SET_MISSING = 13
    ORDER_OUT = 14
    ORDER_MORE = 15
    ORDER_FILL = 16
    ORDER_GENTLY = 17
    ORDER_RETURN = 18
    ORDER_REST = 19
    DISPLACE = 20
    SETTLE = 21
    HELLO = 22
    WANT = 23
    RELEASED = 24
    ANSWER = 25
    TELL_OUT = 26
    TELL_IN = 27
    TELL_CANNOT_DRAIN = 28


class Result(IntEnum):
    """What has become of an input."""

    TAKEN = 0
    VOID = 1
    IMPOSSIBLE = 2


class Job(IntEnum):
    """What the mover was told last."""

    RESTS = 0
    MOVES_OUT = 1
    FILLS = 2
    FILLS_GENTLY = 3
    RETURNS = 4


class Standby(IntEnum):
    """Who watches for a turn that another program hands on."""

    NOBODY = 0
    SESSION = 1
    GATE = 2


class Reason(IntEnum):
    """Why a turn is given up, as in RELEASED."""

    IDLE = 1
    ASKED = 2
    USED_UP = 3


class Hello(IntFlag):
    """What HELLO says."""

    RESUMING = 1
    WANTS = 2
