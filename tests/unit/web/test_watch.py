"""How often the daemon is asked, by a clock that the test moves."""

import asyncio
import contextlib

import pytest

from nvshare.web import watch as watch_module
from nvshare.web.watch import Watcher

from .stage import Told


class Clock:
    """Stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


async def a_while() -> None:
    """Leave time for hundreds of looks."""
    await asyncio.sleep(0.1)


def test_a_look_is_shared_and_a_stale_one_is_made_anew() -> None:
    source, clock = Told(), Clock()

    async def act() -> None:
        watcher = Watcher("here", source, clock)
        await asyncio.gather(*(watcher.view(0) for _ in range(10)))
        assert source.looks == 1
        clock.now += 1.9
        await watcher.view(0)
        assert source.looks == 1
        clock.now += 0.2
        assert len((await watcher.view(0)).samples) == 1
        assert source.looks == 2
        # A clock that is set back is no reason to show the past.
        clock.now -= 3600
        await watcher.view(0)
        assert source.looks == 3

    asyncio.run(act())


def test_when_nobody_looks_the_daemon_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "_PERIOD", 0.0)
    source, clock = Told(), Clock()

    async def act() -> None:
        watcher = Watcher("here", source, clock)
        task = asyncio.create_task(watcher.run())
        await a_while()
        assert source.looks > 1
        clock.now += 301
        await a_while()
        before = source.looks
        await a_while()
        assert source.looks == before
        await watcher.view(0)
        await a_while()
        assert source.looks > before + 1
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(act())
