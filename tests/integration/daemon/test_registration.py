"""Which clients the daemon accepts, which it refuses, and how many at once."""

import os
import time

import pytest

from nvshare.wire import frames
from nvshare.wire.frames import HEADER, MAGIC, RejectCode

from .client import Client, hello
from .conftest import Daemon, StartDaemon

GIB = 1 << 30
OTHER = "GPU-00000000-0000-0000-0000-000000000000"


def rejected(client: Client) -> frames.Reject:
    reject = client.expect(frames.Reject)
    assert client.receive() is None
    return reject


def test_the_daemon_knows_who_it_is_talking_to(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[1], group=b"0123456789abcdef", allocated=GIB, pinned=1)
    (shown,) = daemon.control.status().clients
    assert (shown.pid, shown.uid) == (os.getpid(), os.getuid())
    assert shown.device == daemon.gpus[1]
    assert (shown.allocated, shown.pinned) == (GIB, 1)
    assert shown.group == f"run-{os.getuid()}-{b'0123456789abcdef'.hex()}"
    assert shown.library_version == "test"


def test_who_asks_whether_the_daemon_listens_is_answered(daemon: Daemon) -> None:
    client = daemon.connect()
    client.send(hello(daemon.gpus[0]))
    client.expect(frames.Quota)
    client.expect(frames.Welcome)
    assert client.expect(frames.Settings).flags & frames.SettingFlags.ANSWERS
    client.expect(frames.Grant)
    client.send(frames.Ping(7), frames.Ping(2**64 - 1))
    assert client.expect(frames.Pong).number == 7
    assert client.expect(frames.Pong).number == 2**64 - 1


def test_who_is_alone_may_have_more_work_in_flight(daemon: Daemon) -> None:
    first, second = daemon.connect(), daemon.connect()
    first.send(hello(daemon.gpus[0]))
    first.expect(frames.Quota)
    first.expect(frames.Welcome)
    assert first.expect(frames.Settings).inflight_us == 1_000_000
    first.expect(frames.Grant)
    second.join(daemon.gpus[0])
    assert first.expect(frames.Settings).inflight_us == 20_000
    second.close()
    assert first.expect(frames.Settings).inflight_us == 1_000_000


def test_limits_of_the_environment_are_confirmed(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0], memory_limit=4 * GIB, compute_percent=40)
    limits = client.expect(frames.Limits)
    assert (limits.memory_limit, limits.share_ppm) == (4 * GIB, 400_000)


def test_a_gpu_that_is_not_here(daemon: Daemon) -> None:
    client = daemon.connect()
    client.send(hello(OTHER))
    assert rejected(client).code is RejectCode.DEVICE


def test_another_version(daemon: Daemon) -> None:
    client = daemon.connect()
    client.sock.sendall(HEADER.pack(MAGIC, 99, 1, 0, 0))
    reject = rejected(client)
    assert reject.code is RejectCode.VERSION
    assert "version 99" in reject.text


def test_numbers_that_cannot_be(daemon: Daemon) -> None:
    for changes in (
        {"compute_percent": 101},
        {"memory_limit": 1 << 63},
        {"allocated": 2**63},
        {"turn": 2**64 - 1},
        {"swapped_out": 2**60},
    ):
        client = daemon.connect()
        client.send(hello(daemon.gpus[0], **changes))
        assert rejected(client).code is RejectCode.PROTOCOL, changes
        assert daemon.control.status().clients == ()


def test_a_frame_before_hello(daemon: Daemon) -> None:
    client = daemon.connect()
    client.want()
    assert rejected(client).code is RejectCode.PROTOCOL


def test_hello_twice(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    client.send(hello(daemon.gpus[0]))
    assert rejected(client).code is RejectCode.PROTOCOL


def test_the_release_of_a_turn_that_is_not_held(serial: Daemon) -> None:
    client = serial.connect()
    client.join(serial.gpus[0])
    client.expect(frames.Grant)
    client.release(5)
    assert rejected(client).code is RejectCode.PROTOCOL
    assert serial.control.status().clients == ()


def test_no_more_than_allowed(
    start_daemon: StartDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text("max_clients = 2\n")
    daemon = start_daemon(f"--config={config}")
    for _ in range(2):
        daemon.connect().join(daemon.gpus[0])
    third = daemon.connect()
    third.send(hello(daemon.gpus[0]))
    assert rejected(third).code is RejectCode.FULL


def test_a_thousand_clients(daemon: Daemon) -> None:
    gpu = daemon.gpus[0]
    begin = time.monotonic()
    clients = [daemon.connect() for _ in range(1000)]
    for client in clients:
        client.send(hello(gpu))
    for client in clients:
        client.be_welcome()
    assert time.monotonic() - begin < 20
    assert daemon.control.status().devices[0].clients == 1000
    for client in clients:
        client.close()


def test_a_thousand_clients_take_turns(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    clients = [serial.connect() for _ in range(1000)]
    for client in clients:
        # On a busy machine some wait long enough to be told why, unless they are patient.
        client.send(hello(gpu, flags=frames.HelloFlags.WANTS | frames.HelloFlags.PATIENT))
    for client in clients:
        client.be_welcome()
    turns = []
    for client in clients:
        frame = client.receive()
        while not isinstance(frame, frames.Grant):
            # With so many clients, each is told to report less often.
            assert isinstance(frame, frames.Standby | frames.Settings)
            if isinstance(frame, frames.Standby):
                os.close(client.take_descriptor())
            frame = client.receive()
        turns.append(frame.turn)
        client.release(frame.turn)
    assert turns == sorted(turns)
    for client in clients:
        client.close()
