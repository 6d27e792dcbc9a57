"""Instructions, as valgrind's callgrind counts them."""

from collections.abc import Container
from pathlib import Path
from typing import NamedTuple


class Instructions(NamedTuple):
    """Instructions of all threads: in total, and in one library itself."""

    all: float
    own: float

    def __sub__(self, other: "Instructions") -> "Instructions":
        return Instructions(self.all - other.all, self.own - other.own)

    def per(self, calls: int) -> "Instructions":
        """The cost of one call, given the number of calls."""
        return Instructions(round(self.all / calls, 1), round(self.own / calls, 1))


def callgrind(profile: Path) -> list[str]:
    """The beginning of a command line that writes a profile to a file."""
    plain = ["--compress-strings=no", "--compress-pos=no"]
    return ["valgrind", "--tool=callgrind", *plain, f"--callgrind-out-file={profile}"]


def read_profile(text: str, library: str) -> Instructions:
    """Add up a profile.

    A line "ob=PATH" names an object; lines with a position and a cost in that object follow. The
    line after "calls=" has the cost of the callee, which is also listed with the callee itself.
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
    """Add up the cost of calls of some functions, including everything that they call.

    Calls among these functions are not counted again: the outermost call includes their cost.
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
