"""The table of nvshare limit. Changes of limits are in tests/integration/daemon."""

from io import StringIO

from rich.console import Console

from nvshare.cli.limit import draw_groups
from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import GroupStatus, GroupUse

GIB = 1 << 30


def lines(*groups: GroupStatus) -> list[str]:
    console = Console(width=200, file=StringIO())
    with console.capture() as drawn:
        console.print(draw_groups(list(groups), {"GPU-0": 0, "GPU-1": 1}))
    return drawn.get().splitlines()


def test_a_row_for_each_group_on_each_gpu() -> None:
    group = GroupStatus(
        key="run-0-aa",
        name="train[1].py",
        ids=(1, 2, 3),
        pids=(7, 8, 9),
        limits=ClientLimits(memory_limit=4 * GIB, compute_percent=40, burst=True, priority="low"),
        sources={"memory_limit": "set", "compute_percent": "environment", "burst": "environment"},
        uses=(
            GroupUse(device="GPU-0", used=5 * GIB, swapped_out=GIB, over_limit=True),
            GroupUse(device="GPU-1", used=0, swapped_out=0, over_limit=False),
        ),
    )
    bare = GroupStatus(
        key="process-3-4",
        name="other",
        ids=(4,),
        pids=(3,),
        limits=ClientLimits(),
        sources={},
        uses=(GroupUse(device="GPU-1", used=GIB, swapped_out=0, over_limit=False),),
    )
    first, second, third = (line for line in lines(group, bare) if "GiB" in line)
    for word in (
        "1 and 2 more",
        "train[1].py",
        "7 and 2 more",
        "5.0 of 4.0 GiB, over its limit",
        "1.0 GiB",
    ):
        assert word in first
    for word in ("40 %, burst", "low", "nvshare limit, its environment"):
        assert word in first
    assert "over its limit" not in second
    cells = [cell.strip() for cell in third.strip("│").split("│")]
    assert cells == ["4", "3", "other", "1", "1.0 GiB", "0.0 GiB", "-", "normal", "-"]
