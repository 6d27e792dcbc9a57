"""How each regime counts clients, and how long its turns and rests are."""

import pytest

from nvshare.core.clients.roster import Roster
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.policies import find_policy
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import RegimeName
from nvshare.core.record.work import Work
from nvshare.core.regimes import Place, Regime, choose_regime, find_regime, first_regime
from nvshare.core.settings import Limits, Mode, Priority, Settings
from nvshare.core.turns.rest import rest_seconds
from tests.unit.core.stage import make_state

TOGETHER, MEMORY, ONE, BUSY, RANKED = map(find_regime, RegimeName)
SETTINGS = Settings(turn_min=30.0, slice_seconds=1.0, share_slice_seconds=0.05, idle_grace=0.02)


def roster_of(*clients: Client, regime: RegimeName = RegimeName.MEMORY) -> Roster:
    roster = Roster(make_state(), find_policy("fifo"), find_regime(regime))
    for client in clients:
        client.state = State.IDLE
    roster.load(clients)
    return roster


def with_share(number: int) -> Client:
    return Client(number, limits=Limits(compute_percent=50))


@pytest.mark.parametrize(
    ("name", "at_rest", "busy"),
    [
        (RegimeName.TOGETHER, 0, 0),
        (RegimeName.MEMORY, 8, 8),
        (RegimeName.ONE, 1, 1),
        (RegimeName.BUSY, 0, 1),
        (RegimeName.RANKED, 1, 1),
    ],
)
def test_weights(name: RegimeName, at_rest: int, busy: int) -> None:
    for is_busy, weight in ((False, at_rest), (True, busy)):
        client = Client(1, memory=Memory(10, 2), work=Work(busy=is_busy))
        assert find_regime(name).weigh(client) == weight


def test_only_memory_is_shared_out_by_its_size() -> None:
    assert [one.capacity(14) for one in (MEMORY, ONE, BUSY, RANKED)] == [14, 1, 1, 1]


@pytest.mark.parametrize(
    ("name", "claim", "without"),
    [
        (RegimeName.TOGETHER, 0, 0),
        (RegimeName.MEMORY, 5, 0),
        (RegimeName.ONE, 1, 0),
        (RegimeName.BUSY, 0, 0),
        (RegimeName.RANKED, 0, 0),
    ],
)
def test_what_is_left_of_a_parked_client_is_in_the_way_of_memory(
    name: RegimeName, claim: int, without: int
) -> None:
    for swapped, expected in ((3, claim), (8, without)):
        client = Client(1, memory=Memory(8, 0, swapped), park=Park.IDLE)
        assert find_regime(name).parked_weight(client) == expected


def test_where_somebody_has_its_work() -> None:
    busy, resting = (
        Client(1, work=Work(busy=True), state=State.RUNNING),
        Client(2, state=State.IDLE),
    )
    places = {one.name: (one.place(busy), one.place(resting)) for one in (MEMORY, ONE, BUSY)}
    assert places == {
        RegimeName.MEMORY: (Place.BESIDE, Place.AWAY),
        RegimeName.ONE: (Place.IN_TURN, Place.IN_TURN),
        RegimeName.BUSY: (Place.IN_TURN, Place.BESIDE),
    }


def test_turns_that_are_not_for_memory_are_short_and_shortest_where_there_are_shares() -> None:
    lengths = [one.usual_turn(SETTINGS, has_shares=True) for one in (TOGETHER, MEMORY, ONE, BUSY)]
    assert lengths == [30.0, 30.0, 30.0, 0.05]
    assert BUSY.usual_turn(SETTINGS, has_shares=False) == 1.0
    assert RANKED.usual_turn(SETTINGS, has_shares=False) == 0.05


def test_who_goes_before_all_waits_only_for_memory_to_have_been_worth_moving() -> None:
    assert [one.least_turn(SETTINGS) for one in (MEMORY, ONE, BUSY, RANKED)] == [30, 30, 0, 0]


def test_where_turns_are_very_short_so_are_rests() -> None:
    one, two = Client(1), Client(2)
    plain, shared = roster_of(one, two), roster_of(one, two, with_share(3))
    rests = []
    for regime, roster in ((BUSY, plain), (BUSY, shared), (RANKED, plain)):
        roster.state.settings = SETTINGS
        roster.set_regime(regime)
        rests.append(rest_seconds(roster, one, two))
    assert rests == [0.02, 0.01, 0.01]


def choose(settings: Settings, roster: Roster) -> Regime:
    """Choose by the clients of a roster."""
    fits, classes = roster.memory_suffices, len(roster.classes)
    return choose_regime(settings, fits=fits, classes=classes, busy=roster.busy)


def test_every_mode_has_a_regime_and_auto_looks_who_is_there() -> None:
    assert [first_regime(mode) for mode in Mode] == [
        choose(Settings(mode=mode), roster_of(Client(1))).name for mode in Mode
    ]
    high = Client(3, limits=Limits(priority=Priority.HIGH))
    busy = [Client(number, work=Work(busy=True)) for number in (1, 2)]
    large = Client(4, memory=Memory(1 << 40))
    assert choose(SETTINGS, roster_of(*busy)) is BUSY
    assert choose(SETTINGS, roster_of(*busy, high)) is RANKED
    assert choose(SETTINGS, roster_of(*busy, high, large)) is MEMORY
    assert choose(Settings(slice_seconds=0.0), roster_of(*busy)) is MEMORY
