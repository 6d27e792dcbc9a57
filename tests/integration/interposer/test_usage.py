"""The interposer's reports of a program's GPU time, compared with the GPU's own account."""

import itertools
import statistics
import time
from contextlib import suppress
from pathlib import Path

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.wire.frames import Grant, SettingFlags, Settings, Usage

from .conftest import Guest
from .scripted import Link, Scripted

pytestmark = pytest.mark.timed

KERNEL_NS = 20_000_000


@pytest.fixture
def running(scripted: Scripted, guest: Guest) -> Link:
    """A guest that may launch."""
    guest.ask("gpu.start('gpu.init() or gpu.launch() or gpu.sync()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    return link


@pytest.fixture
def truth(environment: dict[str, str], guest: Guest) -> "Truth":
    return Truth(Path(environment["NVSHARE_EMULATOR_NODE"]), guest.process.pid)


class Truth:
    """The emulated GPU's own account of a process."""

    def __init__(self, node: Path, pid: int) -> None:
        self._node = node
        self._pid = pid

    def __call__(self) -> int:
        process = read_report(self._node).process(self._pid)
        assert process is not None
        return process.gpus[0].compute_ns


def usage_of(link: Link, busy_ns: float) -> Usage:
    """The report after so much work. It comes soon, or not at all."""
    while (usage := link.usage(2)).busy_ns < busy_ns:
        pass
    return usage


def has_news(link: Link) -> bool:
    """Whether a report comes within twice the usual interval."""
    try:
        link.usage(0.5)
    except TimeoutError:
        return False
    return True


def test_one_that_computes_all_the_time(running: Link, guest: Guest, truth: Truth) -> None:
    guest.ask("gpu.start('gpu.launch(100000, slow=True)')")
    began = time.monotonic()
    looks = [(running.usage().busy_ns, truth()) for _ in range(6)]
    # A frame in every quarter of a second, and no more.
    assert time.monotonic() - began > 1.2
    shares = [(b - a) / (y - x) for (a, x), (b, y) in itertools.pairwise(looks)]
    # On a busy machine a sample may come late, and then two of them are wrong.
    assert 0.9 < statistics.median(shares) < 1.1
    guest.process.kill()


def test_where_many_are_each_reports_less_often(running: Link, guest: Guest) -> None:
    running.send(Settings(50_000, 10_000, SettingFlags(0), usage_ms=60_000))
    running.until_taken_in()
    guest.ask("gpu.start('gpu.launch(100000, slow=True)')")
    # One report was under way, and none follows in four times the usual interval.
    with suppress(TimeoutError):
        running.usage(1)
    with pytest.raises(TimeoutError):
        running.usage(1)
    guest.process.kill()


@pytest.mark.parametrize("wait", ["gpu.sync()", "gpu.fetch()"])
def test_one_that_waits_for_every_kernel(
    running: Link, guest: Guest, truth: Truth, wait: str
) -> None:
    """It makes no other call that would show how long the kernel took."""
    began = time.monotonic_ns()
    assert guest.ask("gpu.launch() or gpu.alloc(4096)[0]") == 0
    assert guest.ask(f"sum(gpu.launch(slow=True) or {wait} for _ in range(20))") == 0
    usage = usage_of(running, 0.95 * truth())
    assert usage.busy_ns < time.monotonic_ns() - began + KERNEL_NS
    assert 0 < usage.launches <= 22


def test_one_that_has_little_to_do(running: Link, guest: Guest, truth: Truth) -> None:
    began = time.monotonic()
    guest.ask("[gpu.launch(slow=True) or gpu.sync() or time.sleep(0.2) for _ in range(5)] and None")
    seconds = time.monotonic() - began
    assert usage_of(running, 0.9 * truth()).busy_ns < 0.4 * seconds * 1e9


def test_a_wait_that_goes_on_is_told(running: Link, guest: Guest) -> None:
    guest.ask("gpu.start('gpu.launch(40, slow=True) or gpu.sync()')")
    usages = [running.usage() for _ in range(3)]
    assert not guest.ask("gpu.done(1)")
    assert usages[2].busy_ns - usages[1].busy_ns > 100_000_000
    assert guest.ask("gpu.done(1, 10)")


def test_nothing_is_told_when_there_is_nothing_new(running: Link, guest: Guest) -> None:
    while has_news(running):
        pass
    before = guest.sleeps_of_session()
    assert not has_news(running)
    assert guest.sleeps_of_session() == before
    guest.ask("gpu.launch(20, slow=True)")
    assert running.usage().launches > 0


def test_the_next_daemon_hears_of_it_too(scripted: Scripted, running: Link, guest: Guest) -> None:
    assert guest.ask("gpu.launch(5, slow=True) or gpu.sync()") == 0
    before = usage_of(running, 4 * KERNEL_NS)
    running.close()
    link = scripted.accept()
    link.welcome()
    assert link.usage().busy_ns >= before.busy_ns
