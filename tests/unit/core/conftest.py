import pytest

from nvshare.core.clients.roster import Roster
from nvshare.core.lease import Step
from nvshare.core.memory import Memory
from nvshare.core.policies import find_policy
from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes import find_regime

from .stage import make_state


@pytest.fixture
def roster() -> Roster:
    roster = Roster(make_state(), find_policy("fifo"), find_regime(RegimeName.MEMORY))
    for number in (1, 2, 3):
        roster.add(Client(number, memory=Memory(number * 4, pinned=1)), Step.JOIN, 0.0)
    return roster
