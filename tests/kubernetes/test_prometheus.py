"""A real Prometheus scrapes a daemon whose programs come and go, with our alerts and queries.

``NVSHARE_CHURN_SECONDS=300`` is five minutes of it.
"""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.fault import XID_LOST, set_fault
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from tests.integration.sharing.conftest import Sharing
from tests.monitoring_files import RULES, alerts, queries

from .prometheus import Prometheus, free_port, package, prometheus

SECONDS = float(os.environ.get("NVSHARE_CHURN_SECONDS", "40"))
GIB = 1 << 30
# Times of minutes on a real machine are seconds here.
SHORTER = {"[15m]": "[10s]", "[10m]": "[20s]", "> 600": "> 0.5", "> 60": "> 3", "> 30": "> 8"}
LIFETIME, EVERY = 4.0, 2.0
PATIENCE = 30.0


def shorter(text: str) -> str:
    for long, short in SHORTER.items():
        assert long in text
        text = text.replace(long, short)
    return re.sub(r"for: \w+", "for: 0s", text)


def as_grafana_asks(query: str) -> str:
    return query.replace("$__rate_interval", "10s").replace("$instance", ".*")


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def sharing(tmp_path: Path, port: int) -> Iterator[Sharing]:
    """A node with two GPUs, and a daemon that serves metrics."""
    config = tmp_path / "config.toml"
    config.write_text(f'metrics_address = "127.0.0.1:{port}"\n[gpu]\nturn_seconds = 2\n')
    settings = Settings(speed=1.0, data="off")
    with (
        transient_node(node_root(), settings, parse_gpus("2xt4")) as node,
        ExitStack() as stack,
    ):
        yield Sharing(node, stack, {"NVSHARE_CONFIG": str(config)})


def start(sharing: Sharing, gib: float, wishes: Wishes | None = None) -> "subprocess.Popen[str]":
    program = installed_program("workloads", "driver-kernels")
    options = ("--kernel", "0.005", "--memory", str(round(gib * GIB)))
    return sharing.start(program, *options, wishes=wishes or Wishes(gpus="0"))


def start_outside(sharing: Sharing) -> "subprocess.Popen[bytes]":
    environ = {**os.environ, **sharing.node.environment(library_folder(), os.environ)}
    program = installed_program("workloads", "driver-kernels")
    command = [str(program), "--kernel", "0.005", "--memory", str(GIB // 2)]
    return subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def churn(sharing: Sharing, server: Prometheus) -> None:
    """Have small programs come and go beside large ones; metrics show only those alive."""
    alive: list[tuple[float, subprocess.Popen[str]]] = []
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        now = time.monotonic()
        alive.append((now + LIFETIME, start(sharing, 0.1, Wishes(gpus="0", compute_percent=20))))
        for end, process in [one for one in alive if one[0] < now]:
            sharing.kill(process)
            alive.remove((end, process))
        time.sleep(EVERY)
        # Two large programs, the live small ones, and ended ones from before the last scrape.
        assert len(server.query("nvshare_program_info")) <= 2 + len(alive) + 2
    for _, process in alive:
        sharing.kill(process)


def fired(server: Prometheus) -> set[str]:
    """The alerts that have fired since the start."""
    found = server.query('max_over_time(ALERTS{alertstate="firing"}[1h])')
    return {one["metric"]["alertname"] for one in found}


def until(happens: Callable[[], object], shown: Callable[[], object] = lambda: "") -> None:
    """Wait for something that the next scrapes bring."""
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline, shown()
        time.sleep(0.5)


def test_promtool_likes_the_alerts() -> None:
    tool = package() / "usr/bin/promtool"
    subprocess.run([tool, "check", "rules", RULES], check=True, capture_output=True)


@pytest.mark.timeout(SECONDS + 120)
def test_churn(sharing: Sharing, port: int, tmp_path: Path) -> None:
    rules = shorter(RULES.read_text(encoding="utf-8"))
    sharing.daemon().change_node({"host_memory": "40Gi"})
    with prometheus(tmp_path / "prometheus", port, rules) as server:
        # A counter that is scraped for the first time after it rose has not risen.
        until(lambda: server.query("nvshare_gpu_refusals_total"))
        outside = start_outside(sharing)
        try:
            # If both began at once, their first kernels would bring 20 GiB in by page faults.
            large = [start(sharing, 10)]
            sharing.until_status(lambda now: any(one.launches for one in now.clients))
            large.append(start(sharing, 10))
            sharing.until_status(
                lambda now: sum(one.turns > 1 for one in now.clients) == 2, seconds=60
            )
            # Memory that cannot leave has to fit beside memory that has to be there.
            stays = sharing.guest(Wishes(gpus="1", allocation="native"))
            assert stays.ask("gpu.init() or gpu.alloc(10 << 30)[0]") == 0
            refused = sharing.guest(Wishes(gpus="1", allocation="explicit"))
            assert refused.ask("gpu.init() or gpu.alloc(8 << 30)[0]") != 0
            sharing.kill(stays.process)
            sharing.kill(refused.process)
            set_fault(sharing.node, 1, XID_LOST, needs_reset=True)
            churn(sharing, server)

            empty = [query for query in queries() if not server.query(as_grafana_asks(query))]
            assert not empty
            # The large programs do not fit together, and now take no turns.
            sharing.daemon().change_devices("0", {"mode": "concurrent"})
            until(lambda: "NvshareThrashing" in fired(server), lambda: fired(server))
            # Less than this would be too little for all that has to leave the GPU.
            kept = sharing.daemon().status().host.kept
            sharing.daemon().change_node({"host_memory": str(round(kept / 0.95))})
            expected = {rule["alert"] for rule in alerts()}
            until(lambda: fired(server) == expected, lambda: fired(server))
            judged = server.ask("rules")["groups"][0]["rules"]
            assert [rule["health"] for rule in judged] == ["ok"] * len(alerts())
            for process in large:
                sharing.kill(process)
        finally:
            outside.kill()
            outside.communicate()
        sharing.until_status(lambda now: not now.clients)
        left = '{__name__=~"nvshare_(program|group)_.+"}'
        until(lambda: not server.query(left), lambda: server.query(left))
        gpus = server.query("nvshare_gpu_programs")
        assert [one["value"][1] for one in gpus] == ["0", "0"]
        # Prometheus could read every scrape.
        assert not server.query("min_over_time(up[1h]) < 1")
