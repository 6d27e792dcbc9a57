from collections.abc import Callable

import pytest

from nvshare.core.policies import HEAD_START_TURNS, find_policy
from nvshare.core.record.client import Client
from nvshare.core.record.precedence import Precedence
from nvshare.core.settings import DEFAULTS, NO_LIMITS, Limits, Priority

from ..stage import Stage


def rank(client: Client) -> float:
    return find_policy("fair").rank(client, DEFAULTS, 30.0)


def test_the_end_of_the_last_turn_counts() -> None:
    assert rank(Client(1, precedence=Precedence(served_at=5), since=9)) < rank(
        Client(2, precedence=Precedence(served_at=6), since=7)
    )


@pytest.mark.parametrize("name", ["fair", "fifo"])
def test_a_higher_priority_is_a_head_start_of_some_turns(name: str) -> None:
    high = Limits(priority=Priority.HIGH)
    head_start = HEAD_START_TURNS * 30.0

    def rank_of(moment: float, limits: Limits = NO_LIMITS) -> float:
        client = Client(1, precedence=Precedence(served_at=moment), since=moment, limits=limits)
        return find_policy(name).rank(client, DEFAULTS, 30.0)

    assert rank_of(head_start - 1, high) < rank_of(0) < rank_of(head_start + 1, high)


def test_somebody_who_comes_back_goes_before_those_just_served(
    queue: Callable[[str], Stage],
) -> None:
    assert [client.id for client in queue("fair").device.roster.waiting] == [3, 2]
