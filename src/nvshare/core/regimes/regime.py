"""The interface of a regime: the questions that the scheduler asks about sharing a device.

A regime knows no client by name and has no state: everything is passed to it. The files beside this
one answer the questions; answers that most of them share are here.
"""

from enum import Enum
from typing import ClassVar

from nvshare.core.clients.roster import Roster
from nvshare.core.moves.sizes import outgoing_bytes, swap_seconds
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState, RegimeName
from nvshare.core.settings import Settings


class Place(Enum):
    """How a client works: beside all others, in turn with some, or not at present."""

    BESIDE = "beside"
    IN_TURN = "in turn"
    AWAY = "away"


class Regime:
    """What clients compete for, which of them fit together, and how long turns and rests are.

    By default turns are for memory: it moves when they change.
    """

    name: ClassVar[RegimeName]
    # Whether a client may have to wait for another.
    takes_turns: ClassVar[bool] = True
    # Whether turns are taken although everything fits in memory. Then none of it moves.
    is_sliced: ClassVar[bool] = False

    def weigh(self, client: Client) -> int:
        """Return how much of the capacity a client takes while it runs."""
        raise NotImplementedError

    def capacity(self, room: int) -> int:
        """Return the capacity of a device that has room for so many bytes of clients."""
        del room
        return 1

    def claim(self, client: Client) -> int:
        """Return the capacity that a parked client takes, by its memory still on the device."""
        del client
        return 0

    def place(self, client: Client) -> Place:
        """Return how a client works."""
        return Place.BESIDE if client.has_turn else Place.AWAY

    def usual_turn(self, settings: Settings, roster: Roster) -> float:
        """Return the usual length of a turn, whichever client waits for its end."""
        del roster
        return settings.turn_seconds or settings.turn_min

    def least_turn(self, settings: Settings) -> float:
        """Return how long a turn is at least, if a client of higher priority waits."""
        return settings.turn_min

    def turn_seconds(self, state: DeviceState, roster: Roster, head: Client) -> float:
        """Return the length of a turn for this head: long enough that moving memory pays."""
        if roster.policy.runs_to_end:
            return state.settings.batch_turn
        swap = swap_seconds(state, roster, head, head.memory.swappable)
        return state.pace.turn_length(state.settings, swap, is_steady=self.is_steady(roster))

    def is_steady(self, roster: Roster) -> bool:
        """Whether all clients that take turns are busy, so that none would notice longer ones.

        A client with a share of compute would: its share is kept over a few turns.
        """
        if roster.with_share or roster.busy < 2:
            return False
        return all(client.work.busy for client in (*roster.in_the_way, *roster.waiting))

    def rest_seconds(
        self, state: DeviceState, roster: Roster, client: Client, head: Client
    ) -> float:
        """Return how long a client may rest before it gives way to the head.

        A rest is worth giving way for if it lasts longer than the move of memory that this costs.
        That is unknown beforehand. A client that rested long enough last time is assumed to do so
        again; any other is given as long as the move would take. So a client that rests often and
        briefly goes on, and a wrong guess costs at most twice as much as the right one.
        """
        grace = state.settings.idle_grace
        if outgoing_bytes(roster, head) <= 0:
            return grace
        swap = swap_seconds(state, roster, head, client.staying)
        return grace if client.rest.last >= swap else max(grace, swap)
