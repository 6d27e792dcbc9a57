"""A queue that policies order in different ways."""

from collections.abc import Callable

import pytest

from nvshare.core.settings import Mode

from ..stage import Stage

Queue = Callable[[str], Stage]


@pytest.fixture
def queue() -> Queue:
    """Have 1 run, 2 wait since it had a turn a second ago, and 3 wait for its first turn."""

    def make(policy: str) -> Stage:
        stage = Stage(mode=Mode.SERIAL, policy=policy)
        for client in (3, 2, 1):
            stage.join(client)
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
