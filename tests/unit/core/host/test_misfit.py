"""A request that cannot be on the device at once with all that must be is refused, and reported."""

from nvshare.core.effects import Answer, Effect, Report, ReportKind, Verdict
from nvshare.core.events import HostMemoryChanged, SettingsChanged
from nvshare.core.memory import Kind

from ..stage import GPU, Stage

USABLE = 64
CONTEXT = 2


def join(stage: Stage, client: int, allocated: int) -> list[Effect]:
    return stage.join(client, allocated, kind=Kind.EXPLICIT)


def test_more_than_could_be_there_at_once_is_refused_and_said_once() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    join(stage, 1, 0)
    # A client that is alone leaves room for a context.
    assert stage.memory(1, 62, ticket=1)[-1] == Answer(1, 1)
    report, answer = stage.memory(1, 63, ticket=2)
    assert answer == Answer(1, 2, Verdict.TOO_LARGE)
    assert isinstance(report, Report)
    assert report.kind is ReportKind.TOO_LARGE
    assert "have to be on the GPU at once" in report.text
    assert stage.memory(1, 64, ticket=3) == [Answer(1, 3, Verdict.TOO_LARGE)]


def test_managed_memory_may_be_larger() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    stage.join(1, 0)
    assert stage.memory(1, 63, ticket=1)[-1] == Answer(1, 1)


def test_what_others_have_pinned_is_not_there_for_it() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    stage.join_native(2, 10)
    join(stage, 1, 0)
    assert stage.memory(1, 54, ticket=1)[-1] == Answer(1, 1)
    assert stage.memory(1, 55, ticket=2)[-1] == Answer(1, 2, Verdict.TOO_LARGE)


def test_what_it_may_gain_without_asking_is_left_free() -> None:
    stage = Stage(USABLE, context=CONTEXT, unasked=5)
    join(stage, 1, 0)
    assert stage.memory(1, USABLE - CONTEXT - 5, ticket=1)[-1] == Answer(1, 1)
    assert stage.memory(1, USABLE - CONTEXT, ticket=2)[-1] == Answer(1, 2, Verdict.TOO_LARGE)
    # Beside others no context is left free, but this is.
    stage.join(2, CONTEXT, pinned=CONTEXT)
    assert stage.memory(1, USABLE - CONTEXT - 5, ticket=3)[-1] == Answer(1, 3)
    assert stage.memory(1, USABLE - CONTEXT - 4, ticket=4)[-1] == Answer(1, 4, Verdict.TOO_LARGE)


def test_the_first_who_comes_to_a_full_device_gets_its_context_at_once() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    join(stage, 1, 0)
    stage.want(1)
    assert stage.memory(1, USABLE - CONTEXT, ticket=1)[-1] == Answer(1, 1)
    join(stage, 2, 0)
    assert stage.ask_for_context(2, CONTEXT, ticket=7) == [Answer(2, 7)]
    assert stage.device.roster.room == USABLE - CONTEXT


def test_nobody_comes_beside_whom_another_could_not_come_back() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    join(stage, 1, USABLE - CONTEXT)
    join(stage, 2, 0)
    report, answer = stage.ask_for_context(2, CONTEXT + 1)
    assert answer == Answer(2, 1, Verdict.NOT_NOW)
    assert isinstance(report, Report)
    assert report.kind is ReportKind.NOT_NOW
    assert "have to be on the GPU at once" in report.text
    # It is not counted, and asks again until it has no patience left. That is reported once.
    assert stage.device.roster.pinned == 0
    assert stage.ask_for_context(2, CONTEXT + 1, 2) == [Answer(2, 2, Verdict.NOT_NOW)]
    stage.leave(1)
    assert stage.ask_for_context(2, CONTEXT + 1, 3) == [Answer(2, 3)]


def test_managed_memory_is_in_nobodys_way() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    stage.join(1, USABLE)
    join(stage, 2, 0)
    assert stage.ask_for_context(2, CONTEXT)[-1] == Answer(2, 1)


def test_there_is_no_context_where_nothing_can_leave() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    stage.join_native(1, USABLE - 1)
    join(stage, 2, 0)
    report, answer = stage.ask_for_context(2, CONTEXT)
    assert answer == Answer(2, 1, Verdict.TOO_LARGE)
    assert isinstance(report, Report)
    assert "cannot leave the GPU" in report.text


def test_a_context_pushes_nothing_out_that_the_host_cannot_hold() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=0))
    for client in (1, 2):
        join(stage, client, USABLE // 2)
    join(stage, 3, 0)
    assert stage.ask_for_context(3, CONTEXT)[-1] == Answer(3, 1, Verdict.HOST_FULL)


def test_another_size_of_contexts_holds_from_then_on() -> None:
    stage = Stage(USABLE, context=CONTEXT)
    join(stage, 1, 0)
    stage.core.handle(
        SettingsChanged(now=stage.now, device=GPU, settings=stage.settings, context_bytes=8)
    )
    assert stage.memory(1, USABLE - 7, ticket=1)[-1] == Answer(1, 1, Verdict.TOO_LARGE)
    assert stage.memory(1, USABLE - 8, ticket=2)[-1] == Answer(1, 2)
