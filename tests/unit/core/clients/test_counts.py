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


def test_who_is_gone_counts_for_nothing(roster: Roster) -> None:
    for client in list(roster.clients.values()):
        roster.move(client, Step.LEAVE, 1.0)
    assert (roster.pinned, roster.swappable, roster.closed_bytes) == (0, 0, 0)
    assert roster.everyone_load == Load()
    assert not (roster.clients)
    assert not (roster.idle)
    assert not (roster.closed)
    assert not (roster.classes)
    assert roster.host.kept == roster.host.swappable == 0


def test_what_is_noted_twice_counts_once(roster: Roster) -> None:
    roster.note(roster.clients[1])
    roster.note(roster.clients[1])
    assert roster.swappable == 21
    assert list(roster.idle) == [1, 2, 3]


def test_excess_is_what_others_have_in_the_way_of_those_who_run(roster: Roster) -> None:
    assert roster.overcommit == 21 - 13
    roster.set_evicting(roster.clients[3], 9)
    assert roster.overcommit == 21 - 9 - 13


def test_everything_fits_counts_everybody(roster: Roster) -> None:
    assert not roster.everything_fits
    roster.move(roster.clients[3], Step.LEAVE, 1.0)
    assert roster.everything_fits
