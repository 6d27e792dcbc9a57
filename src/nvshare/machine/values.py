"""The enumerations of native/machine/machine.h, under the same names. A test compares them."""

from enum import IntEnum, IntFlag


class State(IntEnum):
    """The states of a client; native/machine/table.c says what each means."""

    NEW = 0
    ALONE = 1
    RETURNING = 2
    WAITING = 3
    CLOSED = 4
    LEAVING = 5
    FETCHING = 6
    FILLING = 7
    GROWING = 8
    OPEN = 9
    WATCHED = 10
    HOLDING = 11
    HELD = 12
    CLOSING = 13
    STOPPING = 14


class Event(IntEnum):
    """The inputs."""

    GREET = 0
    WELCOME = 1
    LOST = 2
    GRANT = 3
    HANDED = 4
    STANDBY = 5
    HANDOVER = 6
    CANCEL_HANDOVER = 7
    REVOKE = 8
    KEEP = 9
    HOLD = 10
    STEP = 11
    ROOM = 12
    EVICT = 13
    FILL = 14
    DISARMED = 15
    TRIM = 16
    GROW = 17
    GREW = 18
    WORK = 19
    DRAINED = 20
    CANNOT_DRAIN = 21
    IDLE = 22
    USED_UP = 23
    PROGRESS = 24
    MOVED = 25


class Act(IntEnum):
    """The actions."""

    OPEN = 0
    CLOSE = 1
    REFUSE = 2
    WATCH = 3
    STEP = 4
    DRAIN = 5
    AWAIT_GROWTH = 6
    CONTEND = 7
    ARM_GATE = 8
    ARM_SESSION = 9
    DISARM = 10
    DISARM_OR_BEGIN = 11
    HAND_OVER = 12
    DROP = 13
    SET_MISSING = 14
    ORDER_OUT = 15
    ORDER_MORE = 16
    ORDER_FILL = 17
    ORDER_AHEAD = 18
    ORDER_GENTLY = 19
    ORDER_RETURN = 20
    ORDER_REST = 21
    DISPLACE = 22
    COUNT_ALL_THERE = 23
    HELLO = 24
    WANT = 25
    RELEASED = 26
    ANSWER = 27
    TELL_OUT = 28
    TELL_IN = 29
    TELL_CANNOT_DRAIN = 30
    TELL_HELD = 31


class Result(IntEnum):
    """The outcomes of an input."""

    TAKEN = 0
    VOID = 1
    IMPOSSIBLE = 2


class Job(IntEnum):
    """The jobs of the mover."""

    RESTS = 0
    MOVES_OUT = 1
    FILLS = 2
    FILLS_AHEAD = 3
    FILLS_GENTLY = 4
    RETURNS = 5


class Standby(IntEnum):
    """Which thread watches for a hand-over."""

    NOBODY = 0
    SESSION = 1
    GATE = 2


class Reason(IntEnum):
    """Why a turn is given up, as in RELEASED."""

    IDLE = 1
    TOLD = 2
    USED_UP = 3


class Hello(IntFlag):
    """The flags of HELLO that the machine knows."""

    RESUMING = 1
    WANTS = 2
    UNGRANTED = 4
