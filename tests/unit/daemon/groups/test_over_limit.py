"""The core hears all events that it needs to know a group's excess over its limit."""

from nvshare.settings import DeviceSettings
from nvshare.wire import frames

from ..stage import GIB, GPU, Stage


def over_limit(stage: Stage) -> list[int]:
    numbers = [client.id for client in stage.node.clients.all()]
    return [view.over_limit for view in stage.node.core.client_views(numbers)]


def limit(stage: Stage, memory: int | None) -> list[int]:
    """Set a limit; return the excess of each client."""
    stage.limit(memory_limit=memory)
    return over_limit(stage)


def test_members_share_it_as_far_as_their_memory_can_move(stage: Stage) -> None:
    stage.join(4 * GIB, pinned=3 * GIB)
    stage.join(4 * GIB)
    assert limit(stage, 8 * GIB) == [0, 0]
    assert limit(stage, 6 * GIB) == [1 * GIB, 1 * GIB]
    assert limit(stage, 1 * GIB) == [1 * GIB, 4 * GIB]
    assert limit(stage, None) == [0, 0]


def test_it_follows_what_is_allocated_and_who_is_there(stage: Stage) -> None:
    stage.join(4 * GIB)
    stage.join(4 * GIB)
    assert limit(stage, 3 * GIB) == [4 * GIB, 1 * GIB]
    stage.clients[1].send(frames.Memory(1 * GIB, 0, 0, ticket=0).pack())
    stage.turn()
    assert over_limit(stage) == [2 * GIB, 0]
    stage.clients[0].close()
    stage.turn()
    assert over_limit(stage) == [0]


def test_without_the_setting_there_is_none(stage: Stage) -> None:
    stage.join(4 * GIB)
    assert limit(stage, 3 * GIB) == [1 * GIB]
    stage.node.change_settings(GPU, DeviceSettings())
    assert over_limit(stage) == [0]
    stage.node.change_settings(GPU, DeviceSettings(swap_excess=True))
    assert over_limit(stage) == [1 * GIB]
