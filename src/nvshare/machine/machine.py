"""The machine as a Python object: a thin wrapper that knows only the layout of native/machine."""

import ctypes
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from nvshare.errors import NvshareError
from nvshare.machine.values import Act, Event, Job, Result, Standby, State

if TYPE_CHECKING:
    from typing_extensions import Unpack

LIBRARY = "libnvshare-machine.so"
_ACTS = tuple(Act)
_MOST = 12


class Input(TypedDict, total=False):
    """The data of an event; struct machine_input says which fields each reads."""

    descriptor: int
    turn: int
    next_turn: int
    bytes: int
    missing: int
    idle_ns: int
    is_urgent: bool
    displaces: bool
    must_fill: bool
    can_move: bool
    waits: bool
    refuses: bool
    may_wait: bool
    is_explicit: bool
    number: int
    there: int
    away: int


class Action(NamedTuple):
    """An action with its operands."""

    act: Act
    descriptor: int = -1
    turn: int = 0
    bytes: int = 0
    value: int = 0
    number: int = 0


class _Input(ctypes.Structure):
    _fields_ = (
        ("event", ctypes.c_uint32),
        ("descriptor", ctypes.c_int32),
        ("turn", ctypes.c_uint64),
        ("next_turn", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("missing", ctypes.c_uint64),
        ("idle_ns", ctypes.c_uint64),
        ("is_urgent", ctypes.c_bool),
        ("displaces", ctypes.c_bool),
        ("must_fill", ctypes.c_bool),
        ("can_move", ctypes.c_bool),
        ("waits", ctypes.c_bool),
        ("refuses", ctypes.c_bool),
        ("may_wait", ctypes.c_bool),
        ("is_explicit", ctypes.c_bool),
        ("number", ctypes.c_uint32),
        ("there", ctypes.c_uint64),
        ("away", ctypes.c_uint64),
    )


class _Action(ctypes.Structure):
    _fields_ = (
        ("act", ctypes.c_uint32),
        ("descriptor", ctypes.c_int32),
        ("turn", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("value", ctypes.c_uint32),
        ("number", ctypes.c_uint32),
    )


class _Actions(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint32), ("list", _Action * _MOST))


class _Machine(ctypes.Structure):
    _fields_ = (
        ("state", ctypes.c_uint32),
        ("job", ctypes.c_uint32),
        ("turn", ctypes.c_uint64),
        ("out_turn", ctypes.c_uint64),
        ("was_welcome", ctypes.c_bool),
        ("is_ungranted", ctypes.c_bool),
        ("is_wanted", ctypes.c_bool),
        ("is_asked", ctypes.c_bool),
        ("displaces", ctypes.c_bool),
        ("is_greeting", ctypes.c_bool),
        ("is_short", ctypes.c_bool),
        ("is_to_step", ctypes.c_bool),
        ("number", ctypes.c_uint32),
        ("idle_ns", ctypes.c_uint64),
        ("evict", ctypes.c_uint64),
        ("trim", ctypes.c_uint64),
        ("fill", ctypes.c_uint64),
        ("missing", ctypes.c_uint64),
        ("next_descriptor", ctypes.c_int32),
        ("next_turn", ctypes.c_uint64),
        ("standby", ctypes.c_uint32),
        ("standby_turn", ctypes.c_uint64),
        ("standby_fill", ctypes.c_uint64),
        ("standby_missing", ctypes.c_uint64),
    )


def library_path() -> Path:
    """Return the path of the installed library; nvshare.launch.preload says why in this way."""
    return Path(str(files("nvshare") / "lib" / LIBRARY))


@cache
def load_library(path: Path | None = None) -> ctypes.CDLL:
    """Load the library, once, and check that its layout is that of this file."""
    path = path or library_path()
    if not path.is_file():
        raise NvshareError(
            f"{LIBRARY} is not installed",
            why=f"it was looked for at {path}",
            do="run `make build` in the source tree, or reinstall the nvshare package",
        )
    library = ctypes.CDLL(str(path))
    library.machine_size.restype = ctypes.c_uint64
    library.machine_has_turn.restype = ctypes.c_bool
    for name in ("state", "event", "act"):
        getattr(library, f"machine_{name}_name").restype = ctypes.c_char_p
    for which, kind in enumerate((_Machine, _Input, _Actions)):
        if library.machine_size(which) != ctypes.sizeof(kind):
            raise NvshareError(
                f"{LIBRARY} is of another version",
                why=f"{kind.__name__[1:]} has {library.machine_size(which)} bytes there",
                do="run `make build` in the source tree, or reinstall the nvshare package",
            )
    return library


class Machine:
    """The machine of one client. Feed it, and perform its actions."""

    __slots__ = ("_actions", "_call", "_fed", "_library", "_machine", "_own")

    def __init__(self, library: ctypes.CDLL | None = None) -> None:
        self._library = library or load_library()
        self._machine = _Machine()
        self._actions = _Actions()
        # The same in every call.
        self._call = self._library.machine_feed
        self._own = ctypes.byref(self._machine)
        self._fed = ctypes.byref(self._actions)
        self._library.machine_init(self._own)

    def feed(self, event: Event, **fields: "Unpack[Input]") -> tuple[Result, list[Action]]:
        """Take an input; return its outcome, and the actions in order."""
        fields.setdefault("descriptor", -1)
        result = self._call(self._own, ctypes.byref(_Input(event=event, **fields)), self._fed)
        actions = self._actions
        return Result(result), [
            Action(_ACTS[one.act], one.descriptor, one.turn, one.bytes, one.value, one.number)
            for one in actions.list[: actions.count]
        ]

    @property
    def state(self) -> State:
        """The present state."""
        return State(self._machine.state)

    @property
    def holds(self) -> bool:
        """Whether a turn is held, so that work may be in flight."""
        return bool(self._library.machine_has_turn(self._own))

    @property
    def turn(self) -> int:
        """The present turn, or the last one; 0: none."""
        return int(self._machine.turn)

    @property
    def out_turn(self) -> int:
        """The turn in which, or after which, memory leaves."""
        return int(self._machine.out_turn)

    @property
    def is_wanted(self) -> bool:
        """Whether the daemon knows that the client wants a turn."""
        return bool(self._machine.is_wanted)

    @property
    def job(self) -> Job:
        """The last job of the mover, until it is done."""
        return Job(self._machine.job)

    @property
    def standby(self) -> Standby:
        """Which thread watches for a hand-over."""
        return Standby(self._machine.standby)

    @property
    def standby_missing(self) -> int:
        """The part of the memory for that turn that will not have room yet."""
        return int(self._machine.standby_missing)

    @property
    def numbers(self) -> dict[str, Any]:
        """The whole state, by the names of struct machine."""
        return {name: getattr(self._machine, name) for name, *_ in self._machine._fields_}

    def copy(self) -> "Machine":
        """Return another machine in the same state."""
        other = Machine(self._library)
        ctypes.memmove(other._own, self._own, ctypes.sizeof(_Machine))
        return other
