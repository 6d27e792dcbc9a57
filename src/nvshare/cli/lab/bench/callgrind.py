"""Instructions, as valgrind's callgrind counts them."""

from collections.abc import Container
from pathlib import Path
from typing import NamedTuple


class Instructions(NamedTuple):
    """Of all threads: all, and those of one library itself."""

    all: float
    own: float

    def __sub__(self, other: "Instructions") -> "Instructions":
        return Instructions(self.all - other.all, self.own - other.own)

    def per(self, calls: int) -> "Instructions":
        """What one of so many calls has cost."""
        return Instructions(round(self.all / calls, 1), round(self.own / calls, 1))


def callgrind(profile: Path) -> list[str]:
    """The beginning of a command that leaves its profile in a file."""
    plain = ["--compress-strings=no", "--compress-pos=no"]
    return ["valgrind", "--tool=callgrind", *plain, f"--callgrind-out-file={profile}"]


def read_profile(text: str, library: str) -> Instructions:
    """Add up a profile.

    It names an object by a line "ob=PATH", and what follows are lines of a position and a cost in
    it. The line after "calls=" has the cost of what was called, which is told again elsewhere.
    """
    everything = own = 0
    is_own = is_callee = False
    for line in text.splitlines():
        if line.startswith("ob="):
            is_own = Path(line.removeprefix("ob=")).name == library
        elif line.startswith("calls="):
            is_callee = True
        elif line[:1].isdigit():
            cost = 0 if is_callee else int(line.split()[1])
            is_callee = False
            everything += cost
            own += cost if is_own else 0
    return Instructions(everything, own)


def read_calls(text: str, names: Container[str]) -> int:
    """Add up what calls of some functions have cost, with all that these call in turn.

    Calls among them are not counted again: what they cost is in that of the first.
    """
    found = 0
    caller = callee = ""
    is_callee = False
    for line in text.splitlines():
        if line.startswith("fn="):
            caller = line.removeprefix("fn=")
        elif line.startswith("cfn="):
            callee = line.removeprefix("cfn=")
        elif line.startswith("calls="):
            is_callee = True
        elif is_callee and line[:1].isdigit():
            is_callee = False
            if callee in names and caller not in names:
                found += int(line.split()[1])
    return found
