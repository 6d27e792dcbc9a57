"""What remains of a client that has left. Its frames are tested with whole daemons."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from nvshare.wire import frames

from ..stage import Stage


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Python does not look for cycles of garbage."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_one_that_has_left_is_gone_at_once(stage: Stage) -> None:
    """The collector runs once in hundreds of clients: waiting garbage was 5 % of the daemon."""
    stage.join(1, flags=frames.HelloFlags.WANTS)
    (session,) = map(weakref.ref, stage.node._sessions)
    stage.clients.pop().close()
    stage.turn()
    assert not stage.node.clients
    assert session() is None
    assert gc.collect() == 0


@pytest.mark.usefixtures("no_collector")
def test_one_that_was_turned_away_is_gone_at_once(stage: Stage) -> None:
    stage.join(1)
    stage.clients[0].send(frames.Usage(frames.MOST_COUNTER + 1, 0, 0, 0).pack())
    stage.turn()
    assert not stage.node.clients
    assert gc.collect() == 0
