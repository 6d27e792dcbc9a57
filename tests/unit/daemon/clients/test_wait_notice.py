"""A program that waits for long is told why, once."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from nvshare.daemon.clients.wait_notice import WaitNotice


class Clock:
    """The part of a loop that a notice needs, with a time of its own."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> Any:
        timer = (seconds, lambda: call(*arguments))
        self.timers.append(timer)
        return SimpleNamespace(cancel=lambda: self.timers.remove(timer))

    def fire(self) -> None:
        (timer,) = self.timers
        self.timers.remove(timer)
        timer[1]()


def test_it_speaks_once_and_only_of_a_wait_that_lasts() -> None:
    clock, said = Clock(), []
    answers = [False, True]

    def speak(seconds: float) -> bool:
        said.append(seconds)
        return answers.pop(0)

    notice = WaitNotice(cast("asyncio.AbstractEventLoop", clock))
    notice.begin(5.0, speak)
    notice.end()
    assert not clock.timers
    notice.begin(0.0, speak)
    assert not clock.timers
    # There was nothing to say the first time, so the next may speak.
    for _ in range(2):
        notice.begin(5.0, speak)
        clock.fire()
    assert said == [5.0, 5.0]
    notice.begin(5.0, speak)
    assert not clock.timers
