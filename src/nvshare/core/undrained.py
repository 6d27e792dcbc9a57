"""Clients whose work in flight waits for their own next calls: it cannot drain.

A kernel that stays on the device and is fed by copies is such work, and a host function that waits
for a thread which waits at the gate. The client finds that out when it is told to give way
(native/interposer/gate/undrained.h), opens its gate again, and tells. From then on it runs as
before, and is told nothing for a while, each time longer:

* It counts with all the memory that it has, so that nobody is let in who does not fit beside it.
  Who does not fit waits and does not become the head, so that others can take turns meanwhile.
* Of turns that are not for memory it takes no part, and holds nobody up.
* Then it is told to give way again, if anybody needs that. It may have come to an end by then.

What has been in the way for ``revoke_patience`` is not counted with any more, as a client that does
not answer: others go on, and the driver pages. But memory that no driver pages stays where it is:
whoever needs its place waits.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.effects import CancelHandover, Effect, Report, ReportKind, Revoke, Urgency
from nvshare.core.lease import Step
from nvshare.core.memory import Load
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# For how long it is left alone, at first and at most.
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 30.0
# More often than that makes no pause longer.
_MOST_TIMES = 8


def note_undrained(state: DeviceState, roster: Roster, client: Client, now: float) -> list[Effect]:
    """Take it that a client's gate is open again, and that it holds its turn."""
    effects = _void_handover(state, client)
    if client.undrained_since is None:
        client.undrained_since = client.since
    client.retry_at = now + min(FIRST_PAUSE * 2**client.undrained_times, LONGEST_PAUSE)
    client.undrained_times = min(client.undrained_times + 1, _MOST_TIMES)
    if not client.told_undrained:
        client.told_undrained = True
        effects.append(_report(state, client))
    if client.overdue:
        return effects
    if not client.kind.is_copied and now >= client.undrained_since + state.settings.revoke_patience:
        roster.go_on_without(client)
        return effects
    _go_on(roster, client, now)
    roster.set_undrained(client, True)
    return effects


def _go_on(roster: Roster, client: Client, now: float) -> None:
    roster.move(client, Step.CANNOT_DRAIN, now)
    roster.set_evicting(client, 0)
    roster.set_unused(client, 0)
    roster.set_interrupted(client, None)
    client.sliced = False


def _report(state: DeviceState, client: Client) -> Report:
    text = (
        "its work on the GPU waits for its own next calls (a kernel that is fed while it runs, or "
        "a host function that waits for another thread), so it cannot give its turn up; it runs on "
        "beside the others, and is asked again from time to time"
    )
    return Report(ReportKind.UNDRAINED, state.id, client.id, text)


def _void_handover(state: DeviceState, client: Client) -> list[Effect]:
    """The order may be on its way, and would be good for the end of a later turn."""
    handover = state.handover
    if handover is None or handover.from_client != client.id:
        return []
    state.handover = None
    return [CancelHandover(client.id, client.turn)]


def note_drained(client: Client) -> None:
    """Take it that a client has given its turn up. What is to be known of it fades."""
    client.undrained_since, client.retry_at = None, 0.0
    client.undrained_times //= 2


def note_may_drain(roster: Roster, client: Client, now: float) -> None:
    """Take it that the work has ended: who waits for the client's memory need not wait longer.

    Where turns are not for memory nobody waits, and each further try would hold the others up.
    """
    if client.undrained and not roster.regime.is_sliced:
        client.retry_at = 0.0
        roster.set_undrained(client, False)
    elif client.overdue and client.retry_at:
        client.retry_at = now


def try_again(roster: Roster, now: float) -> list[Effect]:
    """Let those be told to give way again who have been left alone for long enough."""
    for client in [one for one in roster.undrained.values() if now >= one.retry_at]:
        client.retry_at = 0.0
        roster.set_undrained(client, False)
    effects: list[Effect] = []
    due = [one for one in roster.overdue.values() if one.retry_at and now >= one.retry_at]
    for client in due:
        client.retry_at = 0.0
        if roster.everything_fits:
            # Those who went on without it have gone.
            _go_on(roster, client, now)
        else:
            effects.append(Revoke(client.id, client.turn, Urgency.NOW))
    return effects


def next_try(roster: Roster) -> float:
    """Return when that will be; never: infinity."""
    clients = [*roster.undrained.values(), *roster.overdue.values()]
    return min((client.retry_at for client in clients if client.retry_at), default=inf)


def may_be_head(roster: Roster, client: Client) -> bool:
    """Whether a client fits beside those who cannot give way now."""
    load = Load()
    for one in roster.undrained.values():
        load.add(one.weight)
    return load.admits(client.weight, roster.capacity)
