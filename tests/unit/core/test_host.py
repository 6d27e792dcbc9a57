"""What does not fit on the devices goes to the host, and the host is finite."""

from typing import Any

from nvshare.core.codec import from_json, to_json
from nvshare.core.effects import Answer, Effect, Report, ReportKind, Verdict
from nvshare.core.events import ClientJoined, DeviceAdded, HostMemoryChanged, MemoryChanged
from nvshare.core.memory import Kind, Memory
from nvshare.core.node import Core
from nvshare.core.settings import Mode
from nvshare.core.state import Snapshot

from .stage import Stage

GIB = 1 << 30


def limited(limit: int, usable: int = 16, **settings: Any) -> Stage:
    stage = Stage(usable, **settings)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=limit))
    return stage


def verdict(effects: list[Effect]) -> Verdict:
    answer = effects[-1]
    assert isinstance(answer, Answer)
    return answer.verdict


def reports(effects: list[Effect]) -> list[tuple[ReportKind, int | None]]:
    return [(e.kind, e.client) for e in effects if isinstance(e, Report)]


def test_what_fits_on_the_devices_needs_no_host() -> None:
    stage = limited(0)
    stage.join(1, 8)
    assert stage.memory(1, 16, ticket=1) == [Answer(1, 1)]
    assert stage.core.host.needed == 0


def test_an_ask_that_would_need_more_than_there_is_is_refused_and_changes_nothing() -> None:
    stage = limited(4)
    stage.join(1, 12)
    stage.join(2, 8, swapped=8)
    report, answer = stage.memory(1, 13, ticket=7)
    assert answer == Answer(1, 7, Verdict.HOST_FULL)
    assert isinstance(report, Report)
    assert report.kind is ReportKind.HOST_FULL
    assert stage.device.roster.clients[1].memory == Memory(12)
    assert stage.core.host.needed == 4


def test_the_report_says_how_much_and_names_the_setting() -> None:
    stage = limited(4 * GIB, usable=16 * GIB)
    stage.join(1, 12 * GIB)
    stage.join(2, 8 * GIB)
    report, _ = stage.memory(1, 15 * GIB, ticket=7)
    assert isinstance(report, Report)
    assert report.text == (
        "was refused 3.0 GiB: 3.0 GiB more would have to leave for the host, which takes 4.0 GiB "
        "of the 4.0 GiB that host_memory allows; end other programs, or raise host_memory"
    )


def test_refusals_in_a_row_are_reported_once() -> None:
    stage = limited(4)
    stage.join(1, 12)
    stage.join(2, 8)
    assert [len(reports(stage.memory(1, 13, ticket=n))) for n in range(1, 4)] == [1, 0, 0]
    assert verdict(stage.memory(1, 11, ticket=4)) is Verdict.YES
    assert len(reports(stage.memory(1, 13, ticket=5))) == 1


def test_who_asks_for_less_is_never_refused() -> None:
    stage = limited(4)
    stage.join(1, 12)
    stage.join(2, 12)
    assert verdict(stage.memory(1, 11, ticket=7)) is Verdict.YES


def test_memory_that_nobody_asked_for_is_taken_as_it_is_and_reported_once() -> None:
    stage = limited(4)
    stage.join(1, 12)
    assert reports(stage.join(2, 9)) == [(ReportKind.OVERCOMMITTED, 2)]
    assert reports(stage.memory(2, 10)) == []
    assert reports(stage.memory(2, 8)) == []
    assert reports(stage.memory(2, 9)) == [(ReportKind.OVERCOMMITTED, 2)]


def test_a_limit_that_is_lowered_too_far_is_reported() -> None:
    stage = limited(8)
    stage.join(1, 12)
    stage.join(2, 8)
    assert reports(stage.core.handle(HostMemoryChanged(now=stage.now, limit=3))) == [
        (ReportKind.OVERCOMMITTED, None)
    ]
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=None))
    assert verdict(stage.memory(1, 99, ticket=7)) is Verdict.YES


def test_less_usable_memory_counts_too() -> None:
    stage = limited(4)
    stage.join(1, 16)
    assert reports(stage.change(usable=11)) == [(ReportKind.OVERCOMMITTED, None)]


def test_pinned_memory_pushes_the_rest_out() -> None:
    stage = limited(4)
    stage.join(1, 12)
    stage.join_native(2, 4)
    assert verdict(stage.memory(2, 9, ticket=1)) is Verdict.HOST_FULL
    assert verdict(stage.memory(2, 8, ticket=2)) is Verdict.YES
    # More than all of the swappable memory cannot leave.
    stage.memory(2, 99)
    assert stage.core.host.needed == 12


def test_without_scheduling_the_host_is_as_finite() -> None:
    stage = limited(4, mode=Mode.OFF)
    stage.join(1, 12)
    stage.join(2, 8)
    assert verdict(stage.memory(2, 9, ticket=1)) is Verdict.HOST_FULL


def test_all_devices_share_the_host_and_a_snapshot_knows_it() -> None:
    core = Core(check=True)
    core.handle(HostMemoryChanged(now=0.0, limit=8))
    for number, name in enumerate(("a", "b")):
        core.handle(DeviceAdded(now=0.0, device=name, usable_bytes=16))
        memory = Memory(20)
        core.handle(ClientJoined(now=0.0, client=number, device=name, memory=memory))
    for one in (core, Core(from_json(Snapshot, to_json(core.snapshot())), check=True)):
        assert one.host.needed == 8
        ask = MemoryChanged(now=1.0, client=0, memory=Memory(21), ticket=1)
        assert verdict(one.handle(ask)) is Verdict.HOST_FULL


def test_a_kind_that_cannot_be_swapped_needs_no_host_itself() -> None:
    stage = limited(0)
    stage.join(1, 20, kind=Kind.NATIVE)
    assert stage.core.host.needed == 0
