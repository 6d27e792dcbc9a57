"""Start, reload, end, sudden death: of clients and of the daemon."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.wire import frames
from nvshare.wire.frames import HelloFlags
from nvshare.wire.places import SOCKET_NAME

from .client import Client
from .conftest import Daemon, StartDaemon

CHILD = """
import sys, time
from pathlib import Path
from tests.integration.daemon.client import Client
from nvshare.wire import frames
client = Client(Path(sys.argv[1]))
client.join(sys.argv[2], flags=frames.HelloFlags.WANTS)
client.receive()
print("ready", flush=True)
time.sleep(1000)
"""


def client_process(daemon: Daemon, gpu: str) -> "subprocess.Popen[str]":
    """A process that has asked for a turn, and got an answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(daemon.folder), gpu],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < deadline


def kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def test_a_holder_that_is_killed_holds_nothing(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    with client_process(serial, gpu) as holder:
        waiter = serial.connect()
        waiter.join(gpu, flags=HelloFlags.WANTS)
        waiter.expect(frames.Standby)
        kill(holder)
        waiter.expect(frames.Grant)


def test_a_waiter_that_is_killed_waits_for_nothing(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    holder = serial.connect()
    holder.join(gpu, flags=HelloFlags.WANTS)
    turn = holder.expect(frames.Grant).turn
    with client_process(serial, gpu) as waiter:
        holder.expect(frames.Revoke)
        holder.expect(frames.Handover)
        kill(waiter)
    assert holder.expect(frames.Keep).turn == turn


def test_one_that_is_killed_while_it_gives_way(start_daemon: StartDaemon) -> None:
    daemon = start_daemon("--mode=serial", "--turn=0.05")
    gpu = daemon.gpus[0]
    with client_process(daemon, gpu) as holder:
        waiter = daemon.connect()
        waiter.join(gpu, flags=HelloFlags.WANTS)
        waiter.expect(frames.Standby)
        until(lambda: daemon.control.status().clients[0].state == "yielding")
        assert waiter.is_quiet()
        kill(holder)
        waiter.expect(frames.Grant)


def test_an_idle_one_that_is_gone_leaves_no_memory_behind(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    holder, idle = serial.connect(), serial.connect()
    holder.join(gpu, flags=HelloFlags.WANTS, allocated=1 << 30)
    holder.expect(frames.Grant)
    alone = serial.control.status().devices[0].allocated
    idle.join(gpu, allocated=1 << 30)
    status = serial.control.status()
    assert [client.state for client in status.clients] == ["running", "idle"]
    assert status.devices[0].allocated == 2 * alone
    idle.close()
    until(lambda: len(serial.control.status().clients) == 1)
    assert serial.control.status().devices[0].allocated == alone


def test_a_holder_that_says_nothing_is_gone_on_without(start_daemon: StartDaemon) -> None:
    daemon = start_daemon("--mode=serial", "--turn=0.05")
    daemon.control.change_devices("all", {"revoke_patience": 0.05})
    gpu = daemon.gpus[0]
    silent, waiter = daemon.connect(), daemon.connect()
    silent.join(gpu, flags=HelloFlags.WANTS)
    waiter.join(gpu, flags=HelloFlags.WANTS)
    waiter.expect(frames.Standby)
    waiter.expect(frames.Grant)
    shown = {client.id: client for client in daemon.control.status().clients}
    assert shown[1].overdue
    assert "has not given up its turn" in daemon.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_clients_come_back_after_a_restart(serial: Daemon, number: int) -> None:
    gpu = serial.gpus[0]
    holder, waiter = serial.connect(), serial.connect()
    holder.join(gpu, flags=HelloFlags.WANTS)
    turn = holder.expect(frames.Grant).turn
    waiter.join(gpu, flags=HelloFlags.WANTS)
    waiter.expect(frames.Standby)
    holder.expect(frames.Revoke)
    holder.expect(frames.Handover)

    serial.stop(number)
    assert holder.receive() is None
    assert waiter.receive() is None
    serial.start()

    # The waiter is faster, and still gets no turn beside a holder whose gate is open.
    again = serial.connect()
    again.join(gpu, flags=HelloFlags.WANTS, slot_key=waiter.slot_key)
    resumed = serial.connect()
    resumed.join(gpu, flags=HelloFlags.RESUMING, turn=turn)
    assert resumed.expect(frames.Revoke).turn == turn
    resumed.expect(frames.Handover)
    again.expect(frames.Standby)
    resumed.release(turn)
    assert again.expect(frames.Grant).turn > turn


def test_a_first_start_waits_for_nobody(serial: Daemon) -> None:
    client = serial.connect()
    client.join(serial.gpus[0], flags=HelloFlags.WANTS)
    client.expect(frames.Grant)
    (shown,) = serial.control.status().clients
    assert shown.waited_seconds < 0.5


def test_the_end_leaves_no_socket(daemon: Daemon) -> None:
    daemon.stop()
    assert [path.name for path in daemon.folder.iterdir()] == []


def test_a_second_daemon_is_refused(daemon: Daemon) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nvshare", "daemon", f"--socket-dir={daemon.folder}"],
        env=daemon.environ,
        capture_output=True,
        text=True,
        timeout=15,
    )
    assert done.returncode == 1
    assert f"a daemon is running already, with pid {daemon.pid}" in done.stderr


def test_a_stale_socket_is_replaced(daemon: Daemon) -> None:
    daemon.stop(signal.SIGKILL)
    assert (daemon.folder / SOCKET_NAME).exists()
    daemon.start()
    daemon.connect().join(daemon.gpus[0])


def test_reload(start_daemon: StartDaemon, tmp_path_factory: pytest.TempPathFactory) -> None:
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text('[gpu]\nmode = "serial"\n')
    daemon = start_daemon(f"--config={config}")
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    gpus = 'oversubscribe = true\n[gpu.lab]\nidle_grace = 0.25\n[gpus.1]\nmode = "concurrent"\n'
    config.write_text(f'host_memory = "3Gi"\nmetrics_address = ":1"\n[gpu]\n{gpus}')
    os.kill(daemon.pid, signal.SIGHUP)
    settings = client.expect(frames.Settings)
    assert settings.idle_grace_us == 250_000
    assert settings.flags & frames.SettingFlags.OVERSUBSCRIBE
    status = daemon.control.status()
    assert [gpu.settings.mode for gpu in status.devices] == ["auto", "concurrent"]
    assert status.host.limit == 3 << 30
    assert 'msg="changing this needs a restart" field=metrics_address' in daemon.log


def test_a_reload_of_nonsense_changes_nothing(
    start_daemon: StartDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = tmp_path_factory.mktemp("config") / "config.toml"
    config.write_text('[gpu]\nmode = "serial"\n')
    daemon = start_daemon(f"--config={config}")
    config.write_text('[gpu]\nmode = "sideways"\n')
    os.kill(daemon.pid, signal.SIGHUP)
    daemon.wait_until_ready()
    assert daemon.control.status().devices[0].settings.mode == "serial"
    assert "gpu.mode: must be" in daemon.stop()


def test_alone_for_long_enough_it_ends(start_daemon: StartDaemon) -> None:
    daemon = start_daemon("--idle-exit=0.5")
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    # A daemon that ends would close its connections first.
    assert client.is_quiet(0.8)
    client.close()
    assert daemon.process is not None
    assert daemon.process.wait(timeout=10) == 0


def test_it_ends_soon_when_its_emulated_node_is_gone(start_daemon: StartDaemon) -> None:
    daemon = start_daemon("--idle-exit=60")
    node = Path(daemon.environ["NVSHARE_EMULATOR_NODE"])
    # Nobody sweeps a hidden folder.
    gone = node.rename(node.with_name(f".{node.name}"))
    assert daemon.process is not None
    assert daemon.process.wait(timeout=20) == 0
    gone.rename(node)


@pytest.mark.parametrize("options", [(), ("--idle-exit=60",)])
def test_a_folder_that_somebody_removes_is_there_again(
    start_daemon: StartDaemon, options: tuple[str, ...]
) -> None:
    """Of any daemon: of a machine, of an emulated node, and one that `nvshare run` has started."""
    daemon = start_daemon(*options)
    shutil.rmtree(daemon.folder)
    deadline = time.monotonic() + 10
    while not (daemon.folder / SOCKET_NAME).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    daemon.connect().join(daemon.gpus[0])


def test_no_driver_is_explained(tmp_path: Path) -> None:
    clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [sys.executable, "-m", "nvshare", "daemon", f"--socket-dir={tmp_path}/d"],
        env=clean,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode == 0:
        pytest.skip("there is a driver on this machine")
    assert "no GPU can be found" in done.stderr
    assert "nvshare emulate" in done.stderr


def test_a_client_object_is_closed_twice_without_harm(daemon: Daemon) -> None:
    client = Client(daemon.folder)
    client.close()
    client.close()


def test_a_daemon_that_may_wait_is_there_before_its_gpus(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("wait_for_gpus = true\n")
    environ = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
    daemon = Daemon(tmp_path / "d", environ, (f"--config={config}",))
    daemon.start()
    try:
        status = daemon.control.status()
        assert (status.devices, status.clients) == ((), ())
    finally:
        log = daemon.stop()
    assert "there is no GPU on this machine yet" in log


def test_a_node_of_a_cluster_has_to_be_in_one(
    tmp_path: Path, node_environment: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nvshare", "daemon", f"--socket-dir={tmp_path / 'd'}"],
        env={**node_environment, "NVSHARE_NODE_NAME": "worker-1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "the API server of the cluster cannot be found" in done.stderr


def test_sockets_that_somebody_removes_are_there_again(daemon: Daemon) -> None:
    """Otherwise all later programs would run unmanaged although the daemon works."""
    before = daemon.connect()
    before.join(daemon.gpus[0])
    names = {SOCKET_NAME, "control.sock", "look.sock"}
    assert {path.name for path in daemon.folder.iterdir()} == names
    for name in names:
        (daemon.folder / name).unlink()
    deadline = time.monotonic() + 30
    while {path.name for path in daemon.folder.iterdir()} != names:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    daemon.connect().join(daemon.gpus[0])
    # Earlier clients have not noticed.
    assert len(daemon.control.status().clients) == 2
    assert daemon.stop().count("a socket was removed, and is there again") == 3
    assert list(daemon.folder.iterdir()) == []
