"""The output of nvshare park. Its effect is tested in tests/integration/sharing."""

from typing import Any

import pytest

from nvshare.cli.park import describe
from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import GroupStatus

from .test_status_table import client

GIB = 1 << 30


def said(*members: Any) -> list[str]:
    group = GroupStatus(
        key="g",
        name="train.py",
        ids=(3, 4),
        pids=(7, 8),
        limits=ClientLimits(),
        sources={},
        uses=(),
    )
    return describe(group, list(members))


def test_all_that_can_move_leaves() -> None:
    waits = {"state": "waiting", "pinned": 0}
    lines = said(client(allocated=3 * GIB, **waits), client(allocated=GIB, **waits))
    assert lines == [
        "train.py (id 3, 4, pid 7, 8) is parked: 4.0 GiB leave the GPU",
        "  its CUDA calls wait until `nvshare unpark 3`",
    ]


def test_what_stays_is_said_with_the_reason() -> None:
    lines = said(
        client(pid=7, state="idle", allocated=3 * GIB, pinned=GIB),
        client(
            pid=8,
            state="idle",
            allocated=GIB,
            pinned=0,
            stuck=GIB // 2,
            stuck_because="no room; make some",
        ),
    )
    assert lines[:3] == [
        "train.py (id 3, 4, pid 7, 8) is parked: 3.0 GiB leave the GPU",
        "  1.0 GiB stay: memory that was allocated in this way cannot move",
        "  0.5 GiB of pid 8 stay: no room; make some",
    ]


def test_what_a_program_with_a_turn_is_doing_ends_first() -> None:
    (first, *_) = said(client(state="running", allocated=3 * GIB))
    assert first.endswith("3.0 GiB leave the GPU as soon as its work in flight has ended")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"thrashes": True}, "its work hardly goes on, because it pages against another program"),
        ({"cannot_drain": True}, "its work waits for its own next calls"),
        ({"overdue": True}, "it was told to before, and has not"),
    ],
)
def test_one_that_cannot_give_way_is_said_to_stay_for_now(
    changes: dict[str, bool], why: str
) -> None:
    lines = said(client(pid=7, state="yielding", allocated=3 * GIB, **changes))
    assert lines[1] == f"  pid 7 cannot give way yet: {why}; if it takes too long, end it"
