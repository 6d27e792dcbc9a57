"""The interface of a regime: the questions that the scheduler asks about sharing a device.

A regime knows no client by name and has no state: everything is passed to it. The files beside this
one answer the questions; answers that most of them share are here. turns/end.py and turns/rest.py
work out the lengths of single turns and rests.
"""

from enum import Enum
from typing import ClassVar

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
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

    def parked_weight(self, client: Client) -> int:
        """Return the capacity that a parked client takes, by its memory still on the device."""
        del client
        return 0

    def place(self, client: Client) -> Place:
        """Return how a client works."""
        return Place.BESIDE if client.has_turn else Place.AWAY

    def usual_turn(self, settings: Settings, *, has_shares: bool) -> float:
        """Return the usual length of a turn, whichever client waits for its end."""
        del has_shares
        return settings.turn_seconds or settings.turn_min

    def least_turn(self, settings: Settings) -> float:
        """Return how long a turn is at least, if a client of higher priority waits."""
        return settings.turn_min

    def rests_are_short(self, *, has_shares: bool) -> bool:
        """Whether a client gives way after a rest that is much shorter than a turn."""
        del has_shares
        return False
