import pytest

from nvshare.core.clients.roster import Roster
from nvshare.core.host.admit import admits
from nvshare.core.lease import IllegalTransition, State, Step
from nvshare.core.memory import Load, Memory
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes import find_regime


def test_a_silent_client_is_not_counted_with(roster: Roster) -> None:
    three = roster.clients[3]
    roster.move(three, Step.GRANT, 1.0)
    roster.move(three, Step.REVOKE, 1.0)
    assert not admits(roster, roster.clients[2])
    roster.go_on_without(three)
    assert admits(roster, roster.clients[2])
    assert list(roster.overdue) == [3]
    roster.move(three, Step.RELEASE, 2.0)
    assert not roster.overdue
    assert not three.turn.overdue


def test_another_regime_weighs_everybody_anew(roster: Roster) -> None:
    roster.set_regime(find_regime(RegimeName.ONE))
    assert roster.everyone_load == Load(3, 3)
    assert roster.capacity == 1
    roster.set_regime(find_regime(RegimeName.TOGETHER))
    assert roster.everyone_load == Load(0, 0)


def test_who_is_asked_is_known_until_it_is_taken_back(roster: Roster) -> None:
    one = roster.clients[1]
    roster.move(one, Step.GRANT, 1.0)
    roster.ask(one, 1.0)
    assert list(roster.soft_revoked) == [1]
    roster.keep(one, 1.0)
    assert not roster.soft_revoked
    roster.ask(one, 1.0)
    roster.move(one, Step.REVOKE, 1.0)
    assert not roster.soft_revoked
    assert not one.turn.soft_revoked


def test_an_illegal_move_changes_nothing(roster: Roster) -> None:
    one = roster.clients[1]
    with pytest.raises(IllegalTransition):
        roster.move(one, Step.REVOKE, 1.0)
    assert one.state is State.IDLE
    assert list(roster.idle) == [1, 2, 3]


def test_a_step_that_leads_nowhere_keeps_the_place_in_the_queue(roster: Roster) -> None:
    for number in (2, 1):
        roster.move(roster.clients[number], Step.WANT, 5.0)
    roster.move(roster.clients[2], Step.WANT, 9.0)
    assert [client.id for client in roster.waiting] == [2, 1]


def test_sums_follow_memory(roster: Roster) -> None:
    one = roster.clients[1]
    roster.move(one, Step.GRANT, 1.0)
    roster.set_memory(one, Memory(10, 2, 5))
    assert (roster.running_bytes, roster.pinned) == (8, 4)
