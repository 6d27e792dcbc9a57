"""What there is to know about a way of sharing a device: the questions that the scheduler asks it.

A regime knows no client by name and keeps nothing: all that it is asked about is handed to it. The
files beside this one answer; what most of them have in common is answered here.
"""

from enum import Enum
from typing import ClassVar

from nvshare.core.client import Client
from nvshare.core.moves import outgoing_bytes, swap_seconds
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState, RegimeName


class Place(Enum):
    """Where somebody has its work: beside everybody, in turn with some, or nowhere now."""

    BESIDE = "beside"
    IN_TURN = "in turn"
    AWAY = "away"


class Regime:
    """What clients compete for, what of that fits together, and how long turns and rests are.

    As written here, turns are for memory: it moves when they change.
    """

    name: ClassVar[RegimeName]
    # Whether anybody may have to wait for anybody.
    takes_turns: ClassVar[bool] = True
    # Whether turns are taken although everything fits in memory. Then none of it moves.
    is_sliced: ClassVar[bool] = False

    def weigh(self, client: Client) -> int:
        """Say how much of the capacity a client takes while it runs."""
        raise NotImplementedError

    def capacity(self, room: int) -> int:
        """Say what clients compete for, of a device that has room for so many bytes of theirs."""
        del room
        return 1

    def claim(self, client: Client) -> int:
        """Say what of the capacity one takes who is parked, by what has not left the device."""
        del client
        return 0

    def place(self, client: Client) -> Place:
        """Say where a client has its work."""
        return Place.BESIDE if client.holds else Place.AWAY

    def usual_turn(self, settings: Settings, roster: Roster) -> float:
        """Say how long a turn usually is, whoever waits for its end."""
        del roster
        return settings.turn_seconds or settings.turn_min

    def least_turn(self, settings: Settings) -> float:
        """Say how long a turn is at least, if somebody waits who goes before all who run."""
        return settings.turn_min

    def turn_seconds(self, state: DeviceState, roster: Roster, head: Client) -> float:
        """Say how long a turn is whose end the head waits for: moving memory has to pay."""
        if roster.policy.runs_to_end:
            return state.settings.batch_turn
        swap = swap_seconds(state, roster, head, head.memory.swappable)
        return state.pace.turn_length(state.settings, swap, is_steady=self.is_steady(roster))

    def is_steady(self, roster: Roster) -> bool:
        """Whether all who take turns compute all the time: nobody would notice longer ones.

        Where somebody has a share of compute it would: it is kept over a few turns.
        """
        if roster.with_share or roster.busy < 2:
            return False
        return all(client.busy for client in (*roster.in_the_way, *roster.waiting))

    def rest_seconds(
        self, state: DeviceState, roster: Roster, client: Client, head: Client
    ) -> float:
        """Say how long a client may rest before it gives way to the head.

        A rest is worth giving way for if it lasts longer than the move of memory that this costs.
        Nobody knows that beforehand. Who rested long enough last time is taken to do so again;
        anybody else is given as long as the move would take. So whoever rests often and briefly
        goes on, and a wrong guess costs no more than twice what the right one would have.
        """
        grace = state.settings.idle_grace
        if outgoing_bytes(roster, head) <= 0:
            return grace
        swap = swap_seconds(state, roster, head, client.staying)
        return grace if client.last_rest >= swap else max(grace, swap)
