"""Why a client waits for memory that cannot leave, as it is shown to users."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outlook:
    """Why a client's memory cannot leave, and why the client waits, in words for users."""

    # Bytes that could not leave the device if they had to.
    stuck: int
    stuck_because: str
    # It waits, and could not, or may not, run if all others gave way.
    is_held_up: bool
    held_up_because: str
    # The devices on which its gang (gangs/) has no room, if it waits for that.
    waits_for: tuple[str, ...] = ()


# The usual case: nothing is stuck or held up.
UNHINDERED = Outlook(stuck=0, stuck_because="", is_held_up=False, held_up_because="")
