"""What is charged to whom: the time of a turn, and the moves that a visit causes.

The time in which clients compete is charged to those that hold the device, in equal parts, less the
time in which memory moved. A client pays for the way in of its own memory when its turn begins. A
client that has interrupted others pays for their way back as well, and they come back at no cost.
"""

from dataclasses import replace

from nvshare.core.clients.roster import Roster
from nvshare.core.moves.sizes import swap_seconds
from nvshare.core.precedence.weights import weight_of
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.record.use import Use, half_life_of


def advance_clock(roster: Roster, now: float) -> None:
    """Charge the time since the last event to the clients that held the device."""
    state = roster.state
    holders = 0 if roster.everything_fits else holders_of(roster)
    state.use_clock.advance(now, half_life(state), holders, state.pace.moving)


def holders_of(roster: Roster) -> int:
    """Return among how many the time of the device is divided."""
    heavy = roster.running_load.heavy + roster.yielding_load.heavy
    return max(1, heavy)


def half_life(state: DeviceState) -> float:
    """Return the time after which a use counts half."""
    return half_life_of(state.settings.turn_min)


def use_of(roster: Roster, client: Client) -> float:
    """Return a client's use as of this event."""
    state = roster.state
    return state.use_clock.read(client.precedence.use, half_life(state), weight_of(roster, client))


def begin_turn(roster: Roster, client: Client) -> None:
    """Charge the moves of a visit as its turn begins, and its time from now on."""
    state = roster.state
    use = use_of(roster, client)
    if client.precedence.interrupted is None and client.weight and not roster.everything_fits:
        ways = 2 if client.precedence.intrudes else 1
        use += ways * one_way(roster, client) / weight_of(roster, client)
    clock = state.use_clock
    client.precedence.charge(Use(use, clock.at, clock.reading))


def end_turn(roster: Roster, client: Client) -> None:
    """Charge the time of a turn that is over. In nobody's way, a client pays for nothing."""
    state = roster.state
    use = client.precedence.use if client.weight else replace(client.precedence.use, mark=None)
    clock = state.use_clock
    client.precedence.charge(
        Use(clock.read(use, half_life(state), weight_of(roster, client)), clock.at)
    )


def keep_up(roster: Roster, client: Client) -> None:
    """Have a client that is about to wait for a slice begin where the least of the others is.

    While everything fits, a client that rests leaves nothing to the others. Those of less weight do
    not count: their use is high at once.
    """
    state = roster.state
    if not roster.regime.is_sliced:
        return
    first, own = roster.waiting.first(), weight_of(roster, client)
    others = [one for one in (*roster.in_the_way, first) if one and one is not client]
    others = [one for one in others if weight_of(roster, one) >= own]
    least = min((use_of(roster, one) for one in others), default=0.0)
    client.precedence.charge(Use(max(use_of(roster, client), least), state.use_clock.at))


def one_way(roster: Roster, client: Client) -> float:
    """Estimate how long it takes to make room for a client, and to fill it."""
    return swap_seconds(roster, client, client.memory.swappable)
