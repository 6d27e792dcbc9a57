from collections.abc import Callable

from nvshare.core.client import Client
from nvshare.core.policies import find_policy

from ..stage import Stage


def test_the_end_of_the_last_turn_counts() -> None:
    fair = find_policy("fair")
    assert fair.rank(Client(1, served_at=5, since=9)) < fair.rank(Client(2, served_at=6, since=7))


def test_somebody_who_comes_back_goes_before_those_just_served(
    queue: Callable[[str], Stage],
) -> None:
    assert [client.id for client in queue("fair").device.roster.waiting] == [3, 2]
