"""A client's reports of its usage: shown to people, and passed to the core."""

import pytest

from nvshare.core.events import Used
from nvshare.wire import frames

from ..stage import Stage

SECOND = 1_000_000_000


def tell(stage: Stage, busy: float, gpu: float = 0.0) -> None:
    frame = frames.Usage(round(busy * SECOND), 1, 0, round(gpu * SECOND))
    stage.clients[0].send(frame.pack())
    stage.turn()


def shown(stage: Stage) -> float:
    """Seconds used in the last minute, as people see them."""
    (client,) = stage.node.clients.all()
    return client.history.percents(stage.node.now())[60] * 60 / 100


def heard(stage: Stage) -> list[float]:
    """The reports that the core has looked at."""
    events = [entry.event for entry in stage.node.core.journal.entries]
    return [event.busy_seconds for event in events if isinstance(event, Used)]


def test_people_see_what_was_used_of_the_gpu(stage: Stage) -> None:
    stage.join(1)
    tell(stage, 1.0)
    tell(stage, 3.0)
    assert shown(stage) == pytest.approx(2.0)


def test_with_a_share_they_see_what_was_billed(stage: Stage) -> None:
    """Beside others, the billed time is less than the measured time, and the program's own."""
    stage.join(1)
    tell(stage, 1.0)
    tell(stage, 3.0, gpu=1.5)
    assert shown(stage) == pytest.approx(1.5)


def test_the_core_hears_how_long_a_share_has_held_its_program_back(stage: Stage) -> None:
    stage.join(1)
    stage.clients[0].send(frames.Usage(2 * SECOND, 1, 3 * SECOND, 0).pack())
    stage.turn()
    (*_, entry) = stage.node.core.journal.entries
    assert isinstance(entry.event, Used)
    assert (entry.event.busy_seconds, entry.event.throttled_seconds) == (2.0, 3.0)


def test_the_core_hears_once_a_second_unless_somebody_rests_or_has_a_share(
    stage: Stage,
) -> None:
    stage.join(1)
    for busy in (0.2, 0.4, 0.6):
        tell(stage, busy)
    assert heard(stage) == [0.2]
    tell(stage, 0.6)
    assert heard(stage) == [0.2, 0.6]
    stage.limit(compute_percent=30)
    for busy in (0.7, 0.8):
        tell(stage, busy)
    assert heard(stage) == [0.2, 0.6, 0.7, 0.8]
