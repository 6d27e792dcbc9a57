"""Attacks by tenants that want more than their part, which must cost the others little.

Each attack is short, and judged by counts, or by comparison with the same run without it. The list
of attacks, with their outcomes, is in docs/security.md.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nvshare.wire import frames
from protocol.boundaries import cases
from tests.integration.users import ALICE

from .client import Client, hello
from .conftest import SECONDS, Daemon, StartDaemon

MIB = 1 << 20
# The possible error of two readings of processor time, in seconds.
TICKS = 2 / os.sysconf("SC_CLK_TCK")
HOSTILE = Path(__file__).parent / "hostile.py"


def is_let_go(client: Client) -> bool:
    """Whether the daemon closes the connection, whatever it sends before."""
    try:
        while client.receive() is not None:
            pass
    except TimeoutError:
        return False
    return True


def errors_of(daemon: Daemon) -> list[str]:
    """The errors of its own that the daemon has logged."""
    return [line for line in daemon.log.splitlines() if " error " in line or "Traceback" in line]


def test_every_number_at_every_edge(daemon: Daemon) -> None:
    """An impossible value ends its connection; a possible one ends nothing."""
    gpu = daemon.gpus[1]
    bystander = daemon.connect()
    bystander.join(gpu)
    bystander.expect(frames.Grant)
    greeting = hello(gpu).pack()
    for case in cases("client"):
        client = Client(daemon.folder)
        is_hello = case.frame.number == frames.Hello.TYPE
        data = case.bytes if is_hello else greeting + case.bytes
        if is_hello:
            # With an existing GPU, or nothing else would be checked.
            head = frames.HEADER.size
            data = data[:head] + greeting[head : head + 16] + data[head + 16 :]
        client.sock.sendall(data)
        if not case.is_good:
            assert is_let_go(client), case
        client.close()
    bystander.send(frames.Memory(MIB, 0, 0, 7))
    while not isinstance(frame := bystander.receive(), frames.Answer):
        assert frame is not None, "the bystander was let go"
    assert [one.program for one in daemon.control.status().clients] != []
    assert errors_of(daemon) == []


def cpu_of(daemon: Daemon) -> float:
    """Seconds of a core that the daemon has used."""
    words = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def kilobytes_of(daemon: Daemon) -> int:
    """Memory that the daemon uses."""
    text = Path(f"/proc/{daemon.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+) kB", text)[0])


# For a process with another name than Python, which could not find itself by that name.
RUN = f"import runpy; runpy.run_path({str(HOSTILE)!r}, run_name='__main__')"


def attack(
    daemon: Daemon, name: str, *words: str, called: str = "python"
) -> "subprocess.Popen[str]":
    """Start a hostile process, and wait until it says that it has begun."""
    process = subprocess.Popen(
        [called, "-c", RUN, str(daemon.folder), daemon.gpus[0], name, *words],
        executable=os.path.realpath(sys.executable),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


@contextmanager
def attacked(
    daemon: Daemon, name: str, *words: str, called: str = "python"
) -> Iterator["subprocess.Popen[str]"]:
    """Within this context, another process attacks."""
    process = attack(daemon, name, *words, called=called)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def granted(client: Client) -> int:
    """Wait for a turn, skipping other frames; return its number."""
    while not isinstance(frame := client.receive(), frames.Grant):
        assert frame is not None, "an honest program was let go"
        while client.descriptors:
            os.close(client.take_descriptor())
    return frame.turn


def take_turns(daemon: Daemon, seconds: float) -> list[float]:
    """Pass a turn between two honest clients of this process; return how long each change took."""
    pair = [daemon.connect() for _ in range(2)]
    for client in pair:
        client.sock.settimeout(30)
        client.join(daemon.gpus[1])
        client.want()
    taken: list[float] = []
    begin = time.monotonic()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for client in pair:
            turn = granted(client)
            taken.append(time.monotonic() - begin)
            # Faster than honest programs are in the long run.
            time.sleep(0.01)
            begin = time.monotonic()
            client.release(turn, wants=1)
    for client in pair:
        client.close()
    return taken


def most_of(taken: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(taken)[len(taken) * 95 // 100]


@pytest.fixture
def short_of_time(start_daemon: StartDaemon, tmp_path_factory: pytest.TempPathFactory) -> Daemon:
    """A daemon with small budgets, which peers use up in a moment instead of in seconds."""
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text('socket_mode = "0666"\n[peers]\nburst = 0.2\n')
    return start_daemon(f"--config={config}", "--mode=serial", "--turn=3600")


@pytest.mark.timed
@pytest.mark.parametrize(
    ("name", "connections", "user"),
    [
        *(
            ("want", 1, ()),
            ("want", 8, ()),
            ("want", 64, ()),
            ("usage", 8, ()),
            ("reconnect", 1, ()),
        ),
        # All processes of a user are equal, so it belongs to another user.
        pytest.param("fork", 4, (str(ALICE),), marks=pytest.mark.needs("root")),
    ],
)
def test_a_flood_takes_its_part_of_the_daemon_and_no_more(
    short_of_time: Daemon, name: str, connections: int, user: tuple[str, ...]
) -> None:
    daemon = short_of_time
    with attacked(daemon, name, str(connections), *user):
        # Until its budget is used up.
        time.sleep(1.0)
        before, memory, logged = cpu_of(daemon), kilobytes_of(daemon), len(daemon.log)
        begun = time.monotonic()
        taken = take_turns(daemon, 2.5)
        used, seconds = cpu_of(daemon) - before, time.monotonic() - begun
        begin = time.monotonic()
        daemon.control.status()
        answered = time.monotonic() - begin
    # The honest two are a part of that: each of their turns costs the same as without an attack.
    honest, usual = cpu_of(daemon), take_turns(daemon, 1.0)
    each = (cpu_of(daemon) - honest) / len(usual)
    # Processor time, which does not depend on other processes.
    assert used - each * len(taken) < 0.2 * seconds + TICKS
    assert most_of(taken) < 0.1 + 5 * most_of(usual)
    assert max(taken) < 1.0 + 5 * max(usual)
    assert answered < 1.0 + 5 * max(usual)
    # A process has 1024 connections at most, each of a few kilobytes.
    assert kilobytes_of(daemon) < memory + 16384
    assert len(daemon.log) - logged < 100_000 * (seconds + 1)
    assert errors_of(daemon) == []


def test_one_process_leaves_places_for_others(
    start_daemon: StartDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # This tests the number of connections, so the time they take does not matter.
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text("[peers]\nburst = 60.0\n")
    daemon = start_daemon(f"--config={config}")
    with attacked(daemon, "connect", "4096") as process:
        assert process.stdout is not None
        # It prints how many of its connections were accepted.
        held = int(process.stdout.readline())
        assert held == 1024
        daemon.connect().join(daemon.gpus[0])
        assert daemon.log.count("the most connections that process_connections allows") == 1


def test_a_very_long_name_fills_neither_the_log_nor_the_status(daemon: Daemon) -> None:
    """Use the longest name that Python permits, on 200 connections, again and again."""
    name, memory = "x" * 3000, kilobytes_of(daemon)
    with attacked(daemon, "connect", "200", called=name) as process:
        assert process.stdout is not None
        held = int(process.stdout.readline())
        assert held >= 64
        status = daemon.control.status()
        assert {len(one.program) for one in status.clients} == {64}
        # The status of a client, without its name, takes some 2 KB.
        assert len(status.model_dump_json()) < held * 4096
    logged, begin = len(daemon.log), time.monotonic()
    with attacked(daemon, "reconnect", "1", called=name):
        take_turns(daemon, 1.0)
        seconds = time.monotonic() - begin
    assert len(daemon.log) - logged < 100_000 * (seconds + 1)
    assert kilobytes_of(daemon) < memory + 16384
    assert name not in daemon.log


def test_an_open_gate_is_believed_once(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    resuming = frames.HelloFlags.RESUMING
    liar = serial.connect()
    liar.join(gpu, flags=resuming, turn=5)
    honest = serial.connect()
    honest.join(gpu)
    honest.want()
    liar.close()
    turn = granted(honest)
    # The same process again: it is revoked, and the honest one keeps its turn.
    again = serial.connect()
    again.join(gpu, flags=resuming, turn=turn)
    while not isinstance(frame := again.receive(), frames.Revoke):
        assert frame is not None
    assert (frame.turn, frame.urgency) == (turn, frames.Urgency.NOW)
    states = [one.state for one in serial.control.status().clients]
    assert states[0] == "running"
    deadline = time.monotonic() + SECONDS
    while "says again that it holds a turn" not in serial.log:
        assert time.monotonic() < deadline, serial.log
        time.sleep(0.05)
    honest.send(frames.Memory(MIB, 0, 0, 7))
    while not isinstance(honest.receive(), frames.Answer):
        pass


def test_memory_that_no_gpu_has_keeps_nobody_from_its_turns(daemon: Daemon) -> None:
    gpu = daemon.gpus[0]
    liar = daemon.connect()
    liar.join(gpu)
    granted(liar)
    liar.send(frames.Memory(1 << 50, 0, 0, 0), frames.Want(0))
    honest = daemon.connect()
    honest.join(gpu, allocated=MIB)
    honest.want()
    # It is told to give way, and does; what it claims is the size of the GPU, and no more.
    while not isinstance(frame := liar.receive(), frames.Revoke):
        assert frame is not None
    liar.release(frame.turn, allocated=1 << 50, swapped_out=1 << 50)
    granted(honest)
    claimed = max(one.allocated for one in daemon.control.status().clients)
    assert claimed <= 16 << 30
