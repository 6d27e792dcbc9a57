"""A daemon that does not answer: no program waits for it for ever, and all come back."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from .conftest import Sharing

# Short times, in the place of ten seconds.
SILENCE = 1.0


def settings(silence: float) -> dict[str, str]:
    """It is taken for a dead one then, and no other is waited for."""
    serial = {"NVSHARE_MODE": "serial", "NVSHARE_TURN": "600"}
    return {**serial, "NVSHARE_SILENCE": str(silence), "NVSHARE_RESTART_WAIT": "0"}


@pytest.fixture
def sharing(share: Callable[..., Sharing]) -> Sharing:
    return share("1xt4", speed=20, data="off", settings=settings(SILENCE))


@contextmanager
def stopped(sharing: Sharing) -> Iterator[int]:
    pid = sharing.daemon().status().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.timed
def test_who_waits_goes_on_and_comes_back(sharing: Sharing) -> None:
    holder, waiter = sharing.guest(), sharing.guest()
    assert holder.ask("gpu.init() or gpu.launch(10)") == 0
    # It computes all the time, so that it keeps its turn.
    holder.ask("gpu.start('[gpu.launch(10, slow=True) for _ in iter(int, 1)]')")
    sharing.until_status(lambda now: [one.state for one in now.clients] == ["running"])
    waiter.ask("gpu.start('gpu.init() or gpu.launch(10)')")
    sharing.until_status(lambda now: {one.state for one in now.clients} == {"running", "waiting"})
    with stopped(sharing):
        began = time.monotonic()
        newcomer = sharing.guest()
        newcomer.ask("gpu.start('gpu.init() or gpu.launch(10)')")
        assert waiter.ask("gpu.done(0, 20)")
        assert SILENCE / 2 < time.monotonic() - began < 10 * SILENCE
        # A new program does not wait longer either.
        assert newcomer.ask("gpu.done(0, 20)")
        assert time.monotonic() - began < 10 * SILENCE
        assert waiter.ask("gpu.launch(10)") == 0
    # It takes them all back, and they take turns again.
    sharing.until_status(lambda now: len(now.clients) == 3)
    sharing.until_status(lambda now: sum(one.state == "running" for one in now.clients) <= 1)


@pytest.mark.timed
def test_who_waits_for_a_daemon_that_answers_waits(share: Callable[..., Sharing]) -> None:
    # Longer than a daemon may get no processor for, beside other tests.
    silence = 3 * SILENCE
    sharing = share("1xt4", speed=20, data="off", settings=settings(silence))
    # A new program interrupts one that has used more by a thirtieth of this.
    sharing.daemon().change_devices("all", {"lab": {"turn_min": 3600, "turn_max": 3600}})
    holder, waiter = sharing.guest(), sharing.guest()
    assert holder.ask("gpu.init() or gpu.launch(10)") == 0
    holder.ask("gpu.start('[gpu.launch(10, slow=True) for _ in iter(int, 1)]')")
    sharing.until_status(lambda now: [one.state for one in now.clients] == ["running"])
    waiter.ask("gpu.start('gpu.init() or gpu.launch(10)')")
    sharing.until_status(lambda now: {one.state for one in now.clients} == {"running", "waiting"})
    assert not waiter.ask(f"gpu.done(0, {2 * silence})")
    assert {one.state for one in sharing.daemon().status().clients} == {"running", "waiting"}
