import pytest

from nvshare.core.policies import Policy, find_policy, policy_names
from nvshare.core.record.client import Client
from nvshare.core.settings import DEFAULTS


def test_every_file_is_a_policy() -> None:
    assert policy_names() == ["batch", "fair", "fifo"]


def test_an_unknown_policy_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match='no policy "best"; the policies are batch, fair, fifo'):
        find_policy("best")


def test_a_policy_must_say_who_is_next() -> None:
    with pytest.raises(NotImplementedError):
        Policy().rank(Client(1), DEFAULTS, 30.0)
