"""Every effect becomes the right frame, timer or log line. A list plays the core."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from nvshare.core import effects
from nvshare.core.effects import Effect, ReportKind
from nvshare.core.events import Event, MemoryChanged, Timer, TimerFired, TimerKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Limits
from nvshare.daemon import executor as executor_module
from nvshare.daemon.executor import Executor
from nvshare.wire import frames

TIMER = Timer("gpu", TimerKind.TURN)


class Script:
    """Answers every event with a prepared list."""

    def __init__(self) -> None:
        self.answer: list[Effect] = []
        self.events: list[Event] = []

    def handle(self, event: Event) -> list[Effect]:
        self.events.append(event)
        answer, self.answer = self.answer, []
        return answer

    def glance(self, client: int) -> None:
        """Know no client."""

    def companions(self) -> list[int]:
        return []


class Ear:
    """Remembers the frames that it was sent. A descriptor is kept open by a copy."""

    log_fields: dict[str, Any] = {"client": 1, "program": "train.py"}  # noqa: RUF012

    def __init__(self) -> None:
        self.heard: list[frames.FromDaemon] = []
        self.descriptors: list[int] = []
        self.turns = 0
        self.answers: list[effects.Answer] = []
        self.reports: list[effects.Report] = []

    def send(self, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        self.heard.append(frame)
        if descriptor >= 0:
            self.descriptors.append(os.dup(descriptor))

    def answered(self, answer: effects.Answer) -> None:
        self.answers.append(answer)

    def granted(self, now: float) -> None:
        del now
        self.turns += 1

    def reported(self, report: effects.Report) -> None:
        self.reports.append(report)


class Stage:
    def __init__(self) -> None:
        self.core = Script()
        self.executor = Executor(self.core, asyncio.get_running_loop())  # type: ignore[arg-type]
        self.one, self.two = Ear(), Ear()
        self.executor.add(1, self.one)
        self.executor.add(2, self.two)

    def do(self, *ordered: Effect) -> None:
        self.core.answer = list(ordered)
        self.executor.dispatch(MemoryChanged(now=0, client=1, memory=Memory()))


def play(scene: Callable[[Stage], Awaitable[None]]) -> None:
    async def act() -> None:
        stage = Stage()
        await asyncio.wait_for(scene(stage), 20)
        stage.executor.close()
        for descriptor in stage.one.descriptors + stage.two.descriptors:
            os.close(descriptor)

    asyncio.run(act())


@pytest.mark.parametrize(
    ("effect", "frame"),
    [
        (effects.Grant(1, 7), frames.Grant(7, 0)),
        (effects.Grant(1, 7, fill_bytes=9), frames.Grant(7, 9)),
        (effects.Grant(1, 7, missing=9), frames.Grant(7, 0, missing=9)),
        (effects.Room(1, 7, 9), frames.Room(7, 9)),
        (
            effects.Revoke(1, 7, effects.Urgency.WHEN_IDLE, 100, 0.05),
            frames.Revoke(7, frames.Urgency.WHEN_IDLE, 50_000, 100),
        ),
        (
            effects.Revoke(1, 7, effects.Urgency.NOW),
            frames.Revoke(7, frames.Urgency.NOW, 0, 0),
        ),
        (
            effects.Revoke(1, 7, effects.Urgency.NOW, 100, displace=True),
            frames.Revoke(7, frames.Urgency.NOW, 0, 100, frames.RevokeFlags.DISPLACE),
        ),
        (effects.Keep(1, 7), frames.Keep(7)),
        (effects.Hold(1, 7), frames.Hold(7, 1)),
        (effects.StepOnce(1, 7), frames.Step(7, 1)),
        (effects.CancelHandover(1, 7), frames.CancelHandover(7)),
        (effects.Evict(1, 100), frames.Evict(100)),
        (effects.Trim(1, 100), frames.Trim(100)),
        (effects.Answer(1, 5, missing=9), frames.Answer(5, frames.Verdict.YES, 9)),
        (
            effects.SetLimits(1, Limits(100, 40), effects.Share(33.3, 0.2, 0.5)),
            frames.Limits(100, frames.LimitFlags(0), 333_000, 200_000, 500_000, 1000),
        ),
        (
            effects.SetLimits(1, Limits()),
            frames.Limits(0, frames.LimitFlags(0), 0, 0, 1_000_000, 1000),
        ),
    ],
)
def test_effects_that_are_frames(effect: Effect, frame: frames.FromDaemon) -> None:
    async def scene(stage: Stage) -> None:
        stage.do(effect)
        assert stage.one.heard == [frame]
        assert stage.two.heard == []
        assert stage.one.turns == isinstance(effect, effects.Grant)

    play(scene)


def test_an_answer_is_to_the_last_hold_or_step_and_to_none_that_is_over() -> None:
    async def scene(stage: Stage) -> None:
        is_answer = stage.executor.is_answer
        stage.do(effects.Hold(1, 7), effects.Hold(2, 8))
        assert is_answer(1, 1)
        assert is_answer(2, 2)
        assert not is_answer(1, 2)
        stage.do(effects.StepOnce(1, 7))
        assert not is_answer(1, 1)
        assert is_answer(1, 3)
        stage.do(effects.Keep(1, 7), effects.Revoke(2, 8, effects.Urgency.NOW))
        assert not is_answer(1, 3)
        assert not is_answer(2, 2)

    play(scene)


def test_every_effect_is_known() -> None:
    kinds = {
        kind
        for kind in vars(effects).values()
        if isinstance(kind, type) and issubclass(kind, Effect) and kind is not Effect
    }
    assert set(executor_module._PERFORM) == kinds


def test_a_handover_connects_two_clients() -> None:
    async def scene(stage: Stage) -> None:
        stage.do(effects.Handover(1, 7, 2, 8, fill_bytes=9))
        assert stage.one.heard == [frames.Handover(7, 8)]
        assert stage.two.heard == [frames.Standby(8, 9)]
        os.write(stage.one.descriptors[0], b"1")
        assert os.read(stage.two.descriptors[0], 2) == b"1"
        # It answers once, and only for a hand-over that was ordered.
        assert stage.executor.handed_to(1, 8) == 2
        assert stage.executor.handed_to(1, 8) is None

    play(scene)


def test_a_later_handover_does_not_hide_an_earlier_one() -> None:
    async def scene(stage: Stage) -> None:
        stage.do(effects.Handover(1, 7, 2, 8), effects.Handover(1, 7, 3, 9))
        assert stage.executor.handed_to(1, 8) == 2
        stage.do(effects.Handover(1, 7, 2, 8))
        assert stage.executor.handed_to(1, 99) is None

    play(scene)


def test_without_a_descriptor_there_is_no_shortcut(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> int:
        raise OSError(24, "Too many open files")

    async def scene(stage: Stage) -> None:
        monkeypatch.setattr(socket, "socketpair", refuse)
        stage.do(effects.Handover(1, 7, 2, 8))
        assert stage.one.heard == stage.two.heard == []

    play(scene)


def test_a_client_that_has_gone_is_sent_nothing() -> None:
    async def scene(stage: Stage) -> None:
        stage.executor.remove(1)
        stage.do(effects.Grant(1, 7), effects.Keep(1, 7), effects.Grant(2, 8))
        assert stage.one.heard == []
        assert stage.two.heard == [frames.Grant(8, 0)]

    play(scene)


def test_timers() -> None:
    async def scene(stage: Stage) -> None:
        loop = asyncio.get_running_loop()
        fired = asyncio.Event()
        handle = stage.core.handle

        def listen(event: Event) -> list[Effect]:
            if isinstance(event, TimerFired):
                fired.set()
            return handle(event)

        stage.core.handle = listen  # type: ignore[method-assign]
        now = loop.time()
        other = Timer("gpu", TimerKind.PATIENCE)
        stage.do(
            effects.SetTimer(other, now + 0.001),
            effects.CancelTimer(other),
            effects.SetTimer(TIMER, now + 3600),
            effects.SetTimer(TIMER, now + 0.01),
        )
        await fired.wait()
        assert [e.timer for e in stage.core.events if isinstance(e, TimerFired)] == [TIMER]
        stage.do(effects.CancelTimer(TIMER))

    play(scene)


def test_a_report_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(stage: Stage) -> None:
        stage.do(effects.Report(ReportKind.OVERDUE, "gpu", 1, "is late"))
        stage.do(effects.Report(ReportKind.SPLIT, "gpu", None, "split"))
        assert [report.text for report in stage.one.reports] == ["is late"]

    play(scene)
    first, second = caplog.records
    assert first.getMessage() == "is late"
    assert vars(first)["fields"] == {
        "event": "overdue",
        "device": "gpu",
        "client": 1,
        "program": "train.py",
    }
    assert vars(second)["fields"] == {"event": "split", "device": "gpu"}
