from nvshare.core.clients.roster import Roster
from nvshare.core.lease import Step


def test_excess_is_what_others_have_in_the_way_of_those_who_run(roster: Roster) -> None:
    assert roster.overcommit == 21 - 13
    roster.set_evicting(roster.clients[3], 9)
    assert roster.overcommit == 21 - 9 - 13


def test_everything_fits_counts_everybody(roster: Roster) -> None:
    assert not roster.everything_fits
    roster.move(roster.clients[3], Step.LEAVE, 1.0)
    assert roster.everything_fits
