"""Metrics of a real program under the real daemon."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.launch.place import CONTROL_NAME
from nvshare.launch.preload import Wishes
from nvshare.launch.private import private_folder
from nvshare.launch.start import LOG

from ..daemon.scraping import port_in, scrape
from .conftest import Sharing

GIB = 1 << 30
ATTRIBUTED = "nvshare_program_attributed_seconds_total"
OUT_OF_MEMORY = 2
REFUSALS = "nvshare_{}_refusals_total"


def test_a_program_that_computes_is_seen_over_both_sockets(
    share: Callable[..., Sharing], tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('metrics_address = "127.0.0.1:0"\n')
    settings = {"NVSHARE_CONFIG": str(config)}
    sharing = share("1xt4", speed=20, data="off", settings=settings)
    guest = sharing.guest(Wishes(memory_limit=4 * GIB))
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(1 << 30)")[0] == 0
    assert guest.ask("gpu.launch(64)") == 0
    sharing.until_status(lambda now: now.clients[0].launches > 0)
    folder = sharing.node.folder / "daemon"
    pid = str(guest.process.pid)
    first = scrape(folder / CONTROL_NAME)
    for found in (first, scrape(port_in(private_folder(folder, {}) / LOG))):
        assert found.value("nvshare_program_memory_allocated_bytes", pid=pid) == GIB
        assert found.value("nvshare_program_memory_limit_bytes", pid=pid) == 4 * GIB
        assert found.value("nvshare_group_memory_used_bytes") == GIB
        assert found.value("nvshare_program_launches_total", pid=pid) > 0
        assert found.value("nvshare_gpu_launches_total", gpu="0") > 0
        assert found.value("nvshare_program_turns_total", pid=pid) > 0
        assert sum(found.values("nvshare_program_state", pid=pid)) == 1
        connected = found.value("nvshare_program_connected_seconds", pid=pid)
        # It is known to the core a moment after it has connected.
        assert sum(found.values(ATTRIBUTED, pid=pid)) == pytest.approx(connected, abs=0.05)
    guest.end()
    sharing.until_status(lambda now: not now.clients)
    last = scrape(folder / CONTROL_NAME)
    assert last.values("nvshare_program_turns_total") == []
    whole = "nvshare_gpu_attributed_seconds_total"
    assert sum(last.values(whole)) >= sum(first.values(whole)) > 0
    for name in ("launches", "turns", "busy_seconds", "running_seconds"):
        counter = f"nvshare_gpu_{name}_total"
        assert last.value(counter) >= first.value(counter)


def test_what_a_memory_limit_refuses_is_counted_to_the_last(share: Callable[..., Sharing]) -> None:
    sharing = share("1xt4", data="off")
    guest = sharing.guest(Wishes(memory_limit=GIB))
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc((1 << 30) + 1)")[0] == OUT_OF_MEMORY
    # The first refusal is reported at once.
    status = sharing.until_status(lambda now: any(one.refusals for one in now.clients))
    assert status.clients[0].refusals_by == {"memory limit": 1}
    socket, pid = sharing.node.folder / "daemon" / CONTROL_NAME, str(guest.process.pid)
    found = scrape(socket)
    assert found.value(REFUSALS.format("program"), pid=pid, reason="memory limit") == 1
    assert found.value(REFUSALS.format("program"), pid=pid, reason="host full") == 0
    # The others are reported later, at the latest when the program ends.
    assert guest.ask("len([gpu.alloc(2 << 30) for _ in range(1000)])") == 1000
    guest.end()
    status = sharing.until_status(lambda now: not now.clients)
    assert status.devices[0].totals.refusals_by == {"memory limit": 1001}
    assert status.devices[0].totals.refusals == 1001
    assert scrape(socket).value(REFUSALS.format("gpu"), reason="memory limit") == 1001


def test_what_is_larger_than_the_gpu_is_another_reason(share: Callable[..., Sharing]) -> None:
    sharing = share("1xt4", data="off")
    guest = sharing.guest()
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(99 << 30)")[0] == OUT_OF_MEMORY
    status = sharing.until_status(lambda now: any(one.refusals for one in now.clients))
    assert status.clients[0].refusals_by == {"size of the GPU": 1}
