"""No client can harm another one, or the daemon."""

import os
import re
import resource
import signal
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from nvshare.launch.place import CONTROL_NAME
from nvshare.launch.unix_http import UnixConnection
from nvshare.wire import frames

from .client import Client, hello
from .conftest import Daemon, StartDaemon
from .fuzzer import Attack, Fuzzer

# Of every attack: simultaneous connections, and frames of each.
CONNECTIONS = 40
FRAMES = 100


class Bystander:
    """An honest client, on the GPU that the attacks name."""

    def __init__(self, daemon: Daemon) -> None:
        self._client = daemon.connect()
        self._client.join(daemon.gpus[0])
        self.turn = self._client.expect(frames.Grant).turn

    def take_another_turn(self) -> None:
        """Give up the turn and get another, skipping other frames."""
        self._client.release(self.turn)
        while not isinstance(frame := self._client.receive(), frames.Grant):
            assert frame is not None, "the daemon has closed the bystander's connection"
            while self._client.descriptors:
                os.close(self._client.take_descriptor())
        self.turn = frame.turn


def deliver(daemon: Daemon, attacks: list[Attack]) -> None:
    """Attack over this many connections at once; the daemon has to close each of them."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(daemon.folder)) for _ in attacks]
        # In two pieces, so that others come between them.
        for part in (0, 1):
            for client, attack in zip(clients, attacks, strict=True):
                half = len(attack.data) // 2
                # The daemon may have closed the connection after the first.
                with suppress(BrokenPipeError, ConnectionResetError):
                    client.sock.sendall(attack.data[half:] if part else attack.data[:half])
        for client, attack in zip(clients, attacks, strict=True):
            with suppress(OSError):
                client.sock.shutdown(socket.SHUT_WR)
            last = None
            while (frame := client.receive()) is not None:
                last = frame
            if attack.is_told:
                assert isinstance(last, frames.Reject), (last, attack.data.hex())


@dataclass(frozen=True)
class Size:
    """The resources that a daemon uses."""

    descriptors: int
    kilobytes: int


def size(daemon: Daemon) -> Size:
    proc = Path(f"/proc/{daemon.pid}")
    (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", (proc / "status").read_text())
    return Size(len(list((proc / "fd").iterdir())), int(resident))


@pytest.mark.timeout(1800)
def test_bad_frames_close_that_connection_only(
    start_daemon: StartDaemon, bad_frames: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A process that sends so much would be slowed.
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text("[peers]\nburst = 1000\n")
    # Log lines for all clients that come and go would be most of the work.
    daemon = start_daemon(f"--config={config}", NVSHARE_LOG="warn")
    bystander = Bystander(daemon)
    fuzzer = Fuzzer(daemon.gpus[0], seed=bad_frames)
    batches = -(-bad_frames // (CONNECTIONS * FRAMES))
    warm = None
    for batch in range(batches):
        deliver(daemon, [fuzzer.attack(FRAMES) for _ in range(CONNECTIONS)])
        bystander.take_another_turn()
        # By then the journal has reached its largest size.
        if batch == batches // 2:
            warm = size(daemon)

    # Nothing is left of any of them, and the next client is accepted.
    daemon.connect().join(daemon.gpus[0])
    status = daemon.control.status()
    assert [client.state for client in status.clients] == ["running", "running"]
    assert warm is not None
    assert size(daemon).descriptors <= warm.descriptors + 2
    assert size(daemon).kilobytes <= warm.kilobytes + 4096
    assert daemon_errors(daemon) == ""


def daemon_errors(daemon: Daemon) -> str:
    """The errors that the daemon has logged, after it has ended."""
    said = daemon.stop()
    return "\n".join(line for line in said.splitlines() if " error " in line)


def is_let_in(daemon: Daemon, gpu: str) -> bool:
    """Connect and send HELLO. A client that cannot yet be told from others is refused."""
    with daemon.connect() as client, suppress(ConnectionError):
        client.send(hello(gpu))
        return client.receive() is not None
    return False


def test_out_of_descriptors_is_a_pause(start_daemon: StartDaemon) -> None:
    daemon = start_daemon(prefix=("prlimit", "--nofile=64:64"))
    gpu = daemon.gpus[0]
    # More connections than it can accept; the rest waits in the kernel.
    crowd = [daemon.connect() for _ in range(100)]
    crowd[0].join(gpu, needs_page=False)
    while "no program can be let in for now" not in daemon.log:
        time.sleep(0.05)
    for client in crowd[1:60]:
        client.close()
    while not is_let_in(daemon, gpu):
        time.sleep(0.05)
    for client in crowd[60:]:
        client.close()


def test_without_descriptors_orders_are_still_taken(daemon: Daemon) -> None:
    daemon.connect().join(daemon.gpus[0])
    person = UnixConnection(str(daemon.folder / CONTROL_NAME), 30)

    def ask(method: str, path: str, body: str | None = None) -> int:
        person.request(method, path, body)
        answer = person.getresponse()
        answer.read()
        return answer.status

    assert ask("GET", "/v1/health") == 200
    _, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (0, hard))
    assert ask("PATCH", "/v1/groups/1", '{"compute_percent": 50}') == 200
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (hard, hard))
    person.close()
    said = daemon.stop()
    assert f"(uid {os.getuid()}), pid {os.getpid()}" in said
    assert "Traceback" not in said


def leave_connection_to_a_child(daemon: Daemon, gpu: str) -> tuple[int, int]:
    """Let a process join and take the turn, make a child that has its connection, and be killed.

    Returns the pids of both; the parent is a zombie.
    """
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        client = Client(daemon.folder)
        client.join(gpu, flags=frames.HelloFlags.WANTS)
        client.expect(frames.Grant)
        child = os.fork()
        if child == 0:
            signal.pause()
        os.write(writing, child.to_bytes(4, "little"))
        signal.pause()
    os.close(writing)
    child = int.from_bytes(os.read(reading, 4), "little")
    os.close(reading)
    os.kill(parent, signal.SIGKILL)
    return parent, child


def test_a_connection_ends_with_its_process(serial: Daemon) -> None:
    """Although a child has it, as after a clone() of the program's own."""
    gpu = serial.gpus[0]
    parent, child = leave_connection_to_a_child(serial, gpu)
    try:
        with Client(serial.folder) as next_one:
            next_one.join(gpu, flags=frames.HelloFlags.WANTS)
            while not isinstance(frame := next_one.receive(), frames.Grant):
                assert frame is not None
            assert [client.pid for client in serial.control.status().clients] == [os.getpid()]
        assert "its process has ended" in serial.log
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(parent, 0)
