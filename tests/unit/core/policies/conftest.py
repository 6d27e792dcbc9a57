"""A queue that policies order in different ways."""

from collections.abc import Callable

import pytest

from nvshare.core.settings import Mode

from ..stage import Stage

Queue = Callable[[str], Stage]


@pytest.fixture
def queue() -> Queue:
    """Have 1 run, 2 wait since it had a turn a second ago, and 3 since it came back.

    Its rest was shorter than its memory takes to come in, so it pays no visit.
    """

    def make(policy: str) -> Stage:
        stage = Stage(mode=Mode.SERIAL, policy=policy, initial_bandwidth=1.0)
        for client in (3, 2, 1):
            stage.join(client, 4, swapped=4)
        stage.release(3)
        stage.now += 1
        stage.want(2)
        stage.now += 1
        stage.want(1)
        stage.release(2, wants=True)
        stage.now += 1
        stage.want(3)
        return stage

    return make
