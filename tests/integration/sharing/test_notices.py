"""A program that waits for long reports it, once, in the words of the daemon."""

import time
from collections.abc import Callable

import pytest

from ..interposer.conftest import Guest
from .conftest import PATIENCE, Sharing

Share = Callable[..., Sharing]


@pytest.fixture
def sharing(share: Share) -> Sharing:
    sharing = share("1xt4", speed=20, data="off")
    # A turn that does not end before the test does, nor because a busy machine lets it rest.
    settings = {"wait_notice": 0.2, "turn_seconds": 600, "lab": {"idle_grace": 0.5}}
    sharing.daemon().change_devices("all", settings)
    return sharing


def holder(sharing: Sharing) -> Guest:
    guest = sharing.guest()
    assert guest.ask("gpu.init() or gpu.alloc(12 << 30)[0] or gpu.launch()") == 0
    return guest


def waiting(sharing: Sharing, notice: str = "1") -> Guest:
    """Return a program that waits at the gate."""
    guest = sharing.guest(None, NVSHARE_WAIT_NOTICE=notice)
    assert guest.ask("gpu.init() or gpu.alloc(11 << 30)[0]") == 0
    guest.put("gpu.launch()")
    sharing.until_status(lambda status: any(one.state == "waiting" for one in status.clients))
    return guest


def keep_busy(sharing: Sharing, first: Guest, other: Guest, seconds: float) -> None:
    """Let the first compute, and the other wait for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert first.ask("gpu.launch() or gpu.sync()") == 0
        assert other.process.poll() is None
    # It gives its turn up when it is idle.
    sharing.until_status(
        lambda status: all(
            one.state != "waiting" for one in status.clients if one.pid == other.process.pid
        ),
        PATIENCE,
    )


def test_who_has_the_gpu_is_said_once(sharing: Sharing) -> None:
    first = holder(sharing)
    other = waiting(sharing)
    keep_busy(sharing, first, other, 1.0)
    assert other.answer() == 0
    (line,) = other.end().splitlines()
    pid = first.process.pid
    assert "GPU 0, this program: has waited 0 s for its turn: guest.py (id 1, pid " in line
    assert f"pid {pid}) has had the GPU for " in line
    assert "the 11.3 GiB of this program and 12.3 GiB do not fit in the 14." in line
    assert first.end() == ""


def test_a_variable_turns_it_off(sharing: Sharing) -> None:
    first = holder(sharing)
    other = waiting(sharing, notice="0")
    keep_busy(sharing, first, other, 1.0)
    assert other.answer() == 0
    assert other.end() == ""


def test_a_setting_turns_it_off(sharing: Sharing) -> None:
    sharing.daemon().change_devices("all", {"wait_notice": "off"})
    first = holder(sharing)
    other = waiting(sharing)
    keep_busy(sharing, first, other, 1.0)
    assert other.answer() == 0
    assert other.end() == ""
