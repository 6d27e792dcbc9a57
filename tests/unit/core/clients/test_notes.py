from nvshare.core.clients.roster import Roster
from nvshare.core.lease import Step
from nvshare.core.memory import Memory


def test_sums_follow_memory(roster: Roster) -> None:
    one = roster.clients[1]
    roster.move(one, Step.GRANT, 1.0)
    roster.set_memory(one, Memory(10, 2, 5))
    assert (roster.running_bytes, roster.pinned) == (8, 4)
