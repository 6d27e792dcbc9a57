from collections.abc import Callable

from nvshare.core.client import Client
from nvshare.core.policies import find_policy

from ..stage import Stage


def test_the_beginning_of_the_wait_counts() -> None:
    fifo = find_policy("fifo")
    assert fifo.rank(Client(1, served_at=5, since=9)) > fifo.rank(Client(2, served_at=6, since=7))


def test_who_began_to_wait_first_goes_first(queue: Callable[[str], Stage]) -> None:
    assert [client.id for client in queue("fifo").device.roster.waiting] == [2, 3]
