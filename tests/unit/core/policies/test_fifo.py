from collections.abc import Callable

from nvshare.core.policies import find_policy
from nvshare.core.record.client import Client
from nvshare.core.record.precedence import Precedence
from nvshare.core.settings import DEFAULTS

from ..stage import Stage


def rank(client: Client) -> float:
    return find_policy("fifo").rank(client, DEFAULTS, 30.0)


def test_the_beginning_of_the_wait_counts() -> None:
    assert rank(Client(1, precedence=Precedence(served_at=5), since=9)) > rank(
        Client(2, precedence=Precedence(served_at=6), since=7)
    )


def test_who_began_to_wait_first_goes_first(queue: Callable[[str], Stage]) -> None:
    assert [client.id for client in queue("fifo").device.roster.waiting] == [2, 3]
