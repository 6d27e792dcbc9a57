from nvshare.core.clients.roster import Roster
from nvshare.core.lease import Step
from nvshare.core.memory import Load


def test_sums_follow_every_move(roster: Roster) -> None:
    one, two, _ = roster.clients.values()
    assert (roster.pinned, roster.room, roster.swappable) == (3, 13, 21)
    roster.move(one, Step.GRANT, 1.0)
    roster.move(two, Step.WANT, 1.0)
    assert roster.running_load == Load(3, 1)
    assert roster.waiting_load == Load(7, 1)
    assert (roster.running_bytes, roster.closed_bytes) == (3, 18)
    roster.move(one, Step.REVOKE, 1.0)
    assert roster.running_load == Load()
    assert roster.yielding_load == Load(3, 1)
    assert (roster.running_bytes, roster.yielding_bytes) == (0, 3)
