"""Clients whose work in flight waits for their own next calls: it cannot drain.

Examples are a kernel that stays on the device and is fed by copies, and a host function that waits
for a thread at the gate. The client finds that out when it is told to give way
(native/interposer/gate/undrained.h), opens its gate again, and reports it. From then on it runs as
before, and is told nothing for a while, each time longer:

* It counts with all its memory, so that no client is let in that does not fit beside it. A client
  that does not fit waits and does not become the head, so that others can take turns meanwhile.
* It takes no part in slices, and holds no client up.
* Then it is told to give way again, if a client needs that. Its work may have ended by then.

A client that has been in the way for ``revoke_patience`` does not count any more, like one that
does not answer: others go on, and the driver pages. But memory that no driver pages stays where it
is: a client that needs its place waits.
"""

from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import CancelHandover, Effect, Report, ReportKind
from nvshare.core.lease import Step
from nvshare.core.memory import Load
from nvshare.core.record.client import Client, Told, in_order
from nvshare.core.record.device import DeviceState
from nvshare.core.turns.orders import revoke_now

# For how long it is told nothing, at first and at most.
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 30.0
# Further failures make no pause longer.
_MOST_TIMES = 8


def note_undrained(roster: Roster, client: Client, now: float) -> list[Effect]:
    """Note that a client could not drain: its gate is open again, and it holds its turn."""
    state = roster.state
    effects = _void_handover(state, client)
    pause = min(FIRST_PAUSE * 2**client.drain.times, LONGEST_PAUSE)
    failing_since = client.drain.fail(client.since, now + pause, _MOST_TIMES)
    if client.tell(Told.UNDRAINED):
        effects.append(_report(state, client))
    if client.turn.overdue:
        return effects
    if not client.kind.is_copied and now >= failing_since + state.settings.revoke_patience:
        roster.go_on_without(client)
        return effects
    _go_on(roster, client, now)
    roster.set_undrained(client, True)
    return effects


def _go_on(roster: Roster, client: Client, now: float) -> None:
    roster.move(client, Step.CANNOT_DRAIN, now)
    roster.set_evicting(client, 0)
    roster.set_unused(client, 0)
    client.precedence.forget_interruption()
    client.turn.note_slice(sliced=False)


def _report(state: DeviceState, client: Client) -> Report:
    text = (
        "its work on the GPU waits for its own next calls (a kernel that is fed while it runs, "
        "or a host function that waits for another thread), so it cannot give up its turn; it "
        "runs on beside the others, and is asked again from time to time"
    )
    return Report(ReportKind.UNDRAINED, state.id, client.id, text)


def _void_handover(state: DeviceState, client: Client) -> list[Effect]:
    """Cancel a hand-over by a client: it would be carried out when the client drains later."""
    handover = state.handover
    if handover is None or handover.from_client != client.id:
        return []
    state.handover = None
    return [CancelHandover(client.id, client.turn.number)]


def note_may_drain(roster: Roster, client: Client, now: float) -> None:
    """Note that the work has ended: clients that wait for the memory need not wait longer.

    With slices no client waits for memory, and each further try would hold the others up.
    """
    if client.drain.undrained and not roster.regime.is_sliced:
        client.drain.retry(0.0)
        roster.set_undrained(client, False)
    elif client.turn.overdue and client.drain.retry_at:
        client.drain.retry(now)


def try_again(roster: Roster, now: float) -> list[Effect]:
    """Let clients whose pause is over be told to give way again."""
    for client in [one for one in roster.undrained.values() if now >= one.drain.retry_at]:
        client.drain.retry(0.0)
        roster.set_undrained(client, False)
    effects: list[Effect] = []
    due = [
        one for one in roster.overdue.values() if one.drain.retry_at and now >= one.drain.retry_at
    ]
    for client in in_order(due):
        client.drain.retry(0.0)
        if roster.everything_fits:
            # The clients that went on without it have left.
            _go_on(roster, client, now)
        else:
            effects.append(revoke_now(client))
    return effects


def next_try(roster: Roster) -> float:
    """Return when the next pause is over. Infinity: never."""
    clients = [*roster.undrained.values(), *roster.overdue.values()]
    return min((client.drain.retry_at for client in clients if client.drain.retry_at), default=inf)


def fits_beside_undrained(roster: Roster, client: Client) -> bool:
    """Whether a client fits beside the clients that cannot give way now."""
    load = Load()
    for one in roster.undrained.values():
        load.add(one.weight)
    return load.admits(client.weight, roster.capacity)
