"""Memory that comes back to the GPU before a turn begins, because another program has left room."""

from collections.abc import Callable

import pytest

from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus

from ..interposer.conftest import Guest
from .conftest import Sharing
from .test_parking import MIB, client, fill, has_left, is_away, is_whole

Share = Callable[..., Sharing]
both = pytest.mark.parametrize("allocation", ["managed", "explicit"])

# Of 248 MiB, the contexts take 10 each, and 8 are in reserve. The waiting program has 150; the
# others fit beside each other, and each may gain 32 without asking.
SETTINGS = {
    "reserve": "8Mi",
    "turn_seconds": 600.0,
    # No program gives way by itself during the test.
    "lab": {"context": "10Mi", "idle_grace": 100.0},
}
LARGE = 150 * MIB
STAYS = 90 * MIB
ENDS = 90 * MIB
# Free memory when one has ended: 248 - 8 - 2 * 10 - 90 - 2 * 32. All of it is still too little.
FREE = 66 * MIB
# Managed memory comes in pieces of 2 MiB. Explicit memory comes in chunks of 64 MiB, the last,
# smaller one first: beside that there is no room for another.
AHEAD = {"managed": FREE, "explicit": 22 * MIB}
PIECES = 8 * MIB


class Cast:
    """One program that waits, with all its memory on the host, and two that run."""

    def __init__(self, sharing: Sharing, allocation: str) -> None:
        self.sharing = sharing
        sharing.daemon().change_devices("all", SETTINGS)
        wishes = Wishes(allocation=allocation)
        self.large = sharing.guest(wishes)
        self.pid = self.large.process.pid
        self.pointer = fill(self.large, LARGE)
        sharing.daemon().park(str(self.pid))
        sharing.until_status(is_away(self.pid, "by hand"))
        sharing.until_report(has_left(self.pid))
        self.stays, self.ends = sharing.guest(wishes), sharing.guest(wishes)
        self.kept = fill(self.stays, STAYS)
        fill(self.ends, ENDS)
        sharing.daemon().unpark(str(self.pid))
        self.large.put("[gpu.launch(), gpu.sync()]")
        sharing.until_status(lambda status: self.state(status) == "waiting")

    def state(self, status: NodeStatus) -> str:
        return client(status, self.pid).state

    def away(self, status: NodeStatus) -> int:
        return client(status, self.pid).swapped_out

    def end(self, guest: Guest) -> None:
        self.sharing.kill(guest.process)
        guest.process.wait(20)


@both
def test_a_turn_begins_with_what_had_no_room_before(share: Share, allocation: str) -> None:
    sharing = share("tiny", speed=20)
    cast = Cast(sharing, allocation)
    assert cast.away(sharing.daemon().status()) == LARGE
    cast.end(cast.ends)
    rest = LARGE - AHEAD[allocation] + PIECES
    status = sharing.until_status(lambda status: cast.away(status) <= rest)
    assert cast.away(status) >= LARGE - FREE
    assert cast.state(status) == "waiting"
    before = sharing.account(cast.pid).in_bytes
    assert is_whole(cast.stays, cast.kept, STAYS)
    cast.end(cast.stays)
    assert cast.large.answer() == [0, 0]
    assert sharing.account(cast.pid).in_bytes - before <= rest
    assert is_whole(cast.large, cast.pointer, LARGE)
    cast.end(cast.large)


def test_who_runs_has_the_room_when_it_grows(share: Share) -> None:
    sharing = share("tiny", speed=20)
    cast = Cast(sharing, "managed")
    cast.end(cast.ends)
    sharing.until_status(lambda status: cast.away(status) < LARGE)
    result, more = cast.stays.ask(f"gpu.alloc({100 * MIB})")
    assert result == 0
    assert cast.stays.ask(f"[gpu.touch({more}), gpu.sync()]") == [0, 0]
    # It has left again, as far as it had to: there is room for 30 MiB of it.
    status = sharing.until_status(lambda status: cast.away(status) >= LARGE - 30 * MIB)
    assert cast.state(status) == "waiting"
    pid = cast.stays.process.pid
    sharing.until_status(lambda status: client(status, pid).swapped_out == 0)
    assert is_whole(cast.stays, cast.kept, STAYS)
    cast.end(cast.stays)
    assert cast.large.answer() == [0, 0]
    assert is_whole(cast.large, cast.pointer, LARGE)
    cast.end(cast.large)
