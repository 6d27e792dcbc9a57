"""Metrics of a real daemon, with clients that the tests control."""

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from nvshare.daemon.tenants.identity import shown_name
from nvshare.launch.place import CONTROL_NAME
from nvshare.wire import frames

from .conftest import Daemon, StartDaemon
from .scraping import port_in, scrape

GIB = 1 << 30
CHILD = """
import sys, time
from pathlib import Path
from tests.integration.daemon.client import Client
client = Client(Path(sys.argv[1]))
client.join(sys.argv[2])
print("ready", flush=True)
time.sleep(1000)
"""
ANY_PORT = "--metrics-address=127.0.0.1:0"


@pytest.fixture
def scraped(start_daemon: StartDaemon) -> Daemon:
    """A daemon that offers metrics on a port, too."""
    return start_daemon(ANY_PORT)


def test_both_sockets_tell_the_same_metrics(scraped: Daemon) -> None:
    client = scraped.connect()
    client.join(scraped.gpus[1], allocated=GIB)
    for place in (scraped.folder / CONTROL_NAME, port_in(scraped.log_file)):
        found = scrape(place)
        assert (found.status, found.content_type) == (
            200,
            "text/plain; version=0.0.4; charset=utf-8",
        )
        labels = {"gpu": "1", "uuid": scraped.gpus[1], "pid": str(os.getpid()), "client": "1"}
        assert found.value("nvshare_program_memory_allocated_bytes", **labels) == GIB
        assert found.values("nvshare_gpu_programs") == [0, 1]
        asked = scrape(place, accept="application/openmetrics-text; version=1.0.0")
        assert asked.content_type.startswith("application/openmetrics-text; version=1.0.0")
    # Nothing else is served over the network.
    assert scrape(scraped.folder / CONTROL_NAME, "/v1/status").status == 200
    assert scrape(port_in(scraped.log_file), "/v1/status").status == 404


def test_what_a_gpu_has_counted_outlives_the_programs(scraped: Daemon) -> None:
    place = scraped.folder / CONTROL_NAME
    for number in (1, 2):
        client = scraped.connect()
        client.join(scraped.gpus[0], allocated=GIB)
        turn = client.expect(frames.Grant).turn
        client.send(
            frames.Usage(busy_ns=0, launches=7, throttled_ns=0, gpu_ns=0),
            frames.Moved(turn, GIB, 0, 0, out_bytes=0, in_bytes=GIB, ns=10**9),
        )
        client.release(turn)
        client.expect(frames.Grant)
        present = scrape(place)
        assert present.value("nvshare_program_launches_total") == 7
        client.close()
        while (found := scrape(place)).values("nvshare_gpu_programs") != [0, 0]:
            pass
        assert found.values("nvshare_program_launches_total") == []
        for name, each in (
            ("programs_joined", 1),
            ("launches", 7),
            ("moved_in_bytes", GIB),
            ("moving_seconds", 1),
            ("turns", 2),
        ):
            assert found.values(f"nvshare_gpu_{name}_total") == [number * each, 0], name


def test_a_program_that_comes_from_another_daemon_is_not_counted_again(scraped: Daemon) -> None:
    client = scraped.connect()
    client.join(scraped.gpus[0])
    turn = client.expect(frames.Grant).turn
    hour = 3600 * 10**9
    client.send(frames.Usage(busy_ns=hour, launches=1000, throttled_ns=0, gpu_ns=0))
    client.send(frames.Usage(busy_ns=hour + 10**9, launches=1010, throttled_ns=0, gpu_ns=0))
    client.release(turn)
    client.expect(frames.Grant)
    found = scrape(scraped.folder / CONTROL_NAME)
    assert found.value("nvshare_program_busy_seconds_total") == 3601
    assert found.values("nvshare_gpu_busy_seconds_total") == [1, 0]
    assert found.values("nvshare_gpu_launches_total") == [10, 0]


def test_a_program_may_have_any_name(scraped: Daemon, tmp_path: Path) -> None:
    script = tmp_path / 'a"b\\c\nd } 1.py'
    script.write_text(CHILD)
    with subprocess.Popen(
        [sys.executable, script, scraped.folder, scraped.gpus[0]],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            found = scrape(port_in(scraped.log_file))
            assert found.value("nvshare_program_overdue", program=shown_name(script.name)) == 0
        finally:
            process.kill()


def test_scrapers_that_do_nothing_hold_nobody_up(scraped: Daemon) -> None:
    port = port_in(scraped.log_file)
    dead = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    try:
        for sock in dead[:50]:
            sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
        client = scraped.connect()
        client.join(scraped.gpus[0], flags=frames.HelloFlags.WANTS)
        client.expect(frames.Grant)
        assert len(scraped.control.status().clients) == 1
        assert scrape(scraped.folder / CONTROL_NAME).status == 200
    finally:
        for sock in dead:
            sock.close()


def test_a_port_that_is_taken_is_an_error(node_environment: dict[str, str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        command = ["daemon", f"--socket-dir={tmp_path / 'd'}", f"--metrics-address={where}"]
        done = subprocess.run(
            [sys.executable, "-m", "nvshare", *command],
            env=node_environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"nvshare: metrics cannot be served on {where}",
        "  why: Address already in use",
        "  what to do: choose another address for metrics_address, or leave it out",
    ]


def test_without_an_address_there_is_no_port(daemon: Daemon) -> None:
    of_daemon = set()
    for one in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            of_daemon.add(str(one.readlink()))
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{daemon.pid}/net/{name}").read_text().splitlines()[1:]
    ]
    assert not of_daemon & {f"socket:[{line[9]}]" for line in lines}
    assert scrape(daemon.folder / CONTROL_NAME).status == 200
