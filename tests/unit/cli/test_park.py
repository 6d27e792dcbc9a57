"""The output of nvshare park. Its effect is tested in tests/integration/sharing."""

from typing import Any

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
    lines = said(client(allocated=3 * GIB, pinned=0), client(allocated=GIB, pinned=0))
    assert lines == [
        "train.py (id 3, 4, pid 7, 8) is parked: 4.0 GiB leave the GPU",
        "  its CUDA calls wait until `nvshare unpark 3`",
    ]


def test_what_stays_is_said_with_the_reason() -> None:
    lines = said(
        client(pid=7, allocated=3 * GIB, pinned=GIB),
        client(pid=8, allocated=GIB, pinned=0, stuck=GIB // 2, stuck_because="no room; make some"),
    )
    assert lines[:3] == [
        "train.py (id 3, 4, pid 7, 8) is parked: 3.0 GiB leave the GPU",
        "  1.0 GiB stay: memory that was allocated in this way cannot move",
        "  0.5 GiB of pid 8 stay: no room; make some",
    ]
