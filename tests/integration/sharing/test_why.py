"""`nvshare why` names the real causes of waiting, for real programs in staged situations."""

import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from nvshare.lab.emulator.fault import XID_LOST, set_fault
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus
from nvshare.telemetry.why import Explanation, explain

from .conftest import Sharing, short_turns
from .test_attribution import client_of
from .test_outsiders import bare

pytestmark = pytest.mark.usefixtures("ahead")

Share = Callable[..., Sharing]
GIB = 1 << 30
KERNELS = ("--kernel", "0.005")
LARGE = (*KERNELS, "--memory", str(11 * GIB))
# The start-up of programs is not part of the staged situation.
AFTER_START = 8.0


def start(sharing: Sharing, *options: str, wishes: Wishes | None = None) -> int:
    """Start a program that runs kernels until it is told to end; return its pid."""
    program = installed_program("workloads", "driver-kernels")
    pid = sharing.start(program, *options, wishes=wishes).pid
    sharing.until_status(lambda now: any(one.pid == pid and one.allocated for one in now.clients))
    return pid


def after_a_while(sharing: Sharing, pid: int, seconds: float = AFTER_START) -> NodeStatus:
    return sharing.until_status(
        lambda now: client_of(now, pid).connected_seconds > seconds, seconds=60
    )


def why(sharing: Sharing, pid: int) -> Explanation:
    status = after_a_while(sharing, pid)
    return explain(status, client_of(status, pid).id)


def set_turn(sharing: Sharing, seconds: float) -> None:
    sharing.daemon().change_devices("all", {"turn_seconds": seconds})


@pytest.mark.timed
def test_alone_and_fine_and_the_verb_itself(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, *KERNELS)
    # Its first seconds are its start-up.
    after_a_while(sharing, pid, 15)
    socket = str(sharing.daemon().path.parent)
    command = [sys.executable, "-m", "nvshare", "why", str(pid)]
    environment = {"NVSHARE_SOCKET_DIR": socket, "PATH": "/usr/bin:/bin"}
    text = subprocess.check_output(command, env=environment, text=True)
    assert "driver-kernels" in text
    assert "alone on the GPU: nothing holds it up." in text
    values = json.loads(subprocess.check_output([*command, "--json"], env=environment, text=True))
    assert values["cause"] == "fine"
    assert values["text"].startswith(text.split(",")[0])
    wrong = subprocess.run(
        [*command[:-1], "nobody"], env=environment, text=True, capture_output=True, check=False
    )
    assert wrong.returncode == 2
    assert 'no program is called "nobody"' in wrong.stderr


def test_idle(share: Share) -> None:
    sharing = share("1xt4", data="off")
    guest = sharing.guest()
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(1 << 30)")[0] == 0
    found = why(sharing, guest.process.pid)
    assert found.main.cause == "idle"


@pytest.mark.timed
def test_bound_by_the_cpu(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, "--style", "sync", "--kernel", "0.002", "--burst", "1", "--rest", "0.02")
    found = why(sharing, pid)
    assert found.main.cause == "cpu_bound"
    assert found.main.numbers["launches"]


def test_held_back_by_its_share(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, *KERNELS, wishes=Wishes(compute_percent=30))
    assert why(sharing, pid).main.cause == "held_back"


def test_shares_that_add_up_to_too_much(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pids = [start(sharing, *KERNELS, wishes=Wishes(compute_percent=80)) for _ in range(2)]
    sharing.until_status(lambda now: all(_is_scaled(one) for one in now.clients))
    found = why(sharing, pids[1])
    assert found.main.cause == "shares_scaled"
    assert "add up to 160 %, so its 80 % become 50 %" in " ".join(found.sentences())


def _is_scaled(client: ClientStatus) -> bool:
    return client.share is not None and client.share < 60


def test_waiting_behind_a_turn(share: Share) -> None:
    sharing = share("1xt4", data="off")
    set_turn(sharing, 60)
    start(sharing, *LARGE)
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    pid = start(sharing, *LARGE)
    found = why(sharing, pid)
    assert found.main.cause == "waiting"
    said = " ".join(found.sentences())
    assert "do not fit in" in said
    assert re.search(r"driver-kernels \(pid \d+\) has the GPU for", said)


def test_moving(share: Share) -> None:
    sharing = share("1xt4", data="off")
    sharing.daemon().change_devices("all", short_turns(0.5))
    pids = [start(sharing, *LARGE) for _ in range(2)]
    sharing.until_status(lambda now: all(one.turns > 3 for one in now.clients), seconds=60)
    found = why(sharing, pids[0])
    assert found.main.cause == "moving"
    assert found.main.numbers["moved_in"]


def test_host_memory(share: Share) -> None:
    sharing = share("1xt4", speed=20, data="off")
    set_turn(sharing, 0.3)
    sharing.daemon().change_node({"host_memory": "20Gi"})
    large = (*KERNELS, "--memory", str(12 * GIB))
    for _ in range(3):
        program = installed_program("workloads", "driver-kernels")
        sharing.start(program, *large)
    status = sharing.until_status(
        lambda now: any(one.held_up and one.state_seconds > AFTER_START for one in now.clients),
        seconds=60,
    )
    held_up = max((one for one in status.clients if one.held_up), key=lambda one: one.state_seconds)
    found = explain(status, held_up.id)
    assert found.main.cause == "host_memory"
    assert held_up.held_up_because in " ".join(found.sentences())


def test_a_process_outside(share: Share) -> None:
    sharing = share("1xt4", data="off")
    set_turn(sharing, 60)
    outsider = bare(sharing)
    try:
        assert outsider.ask("gpu.init() or gpu.alloc(5 << 30)[0] == 0") is True
        sharing.until_status(lambda now: bool(now.devices[0].outside))
        # Alone they would fit: 12 GiB, and 14.3 on the GPU.
        half = (*KERNELS, "--memory", str(6 * GIB))
        start(sharing, *half)
        sharing.until_status(lambda now: any(one.launches for one in now.clients))
        found = why(sharing, start(sharing, *half))
        assert found.main.cause == "outside_process"
        said = " ".join(found.sentences())
        assert f"guest.py (pid {outsider.process.pid})" in said
        assert "nvshare run" in said
    finally:
        outsider.process.kill()
        outsider.process.communicate()


def test_a_lost_gpu(share: Share) -> None:
    sharing = share("2xt4", data="off")
    pid = start(sharing, *KERNELS, wishes=Wishes(gpus="1"))
    other = start(sharing, *KERNELS, wishes=Wishes(gpus="0"))
    set_fault(sharing.node, 1, XID_LOST, needs_reset=True)
    status = sharing.until_status(lambda now: now.devices[1].lost_seconds is not None)
    found = explain(status, client_of(status, pid).id)
    assert found.main.cause == "lost_gpu"
    assert "GPU 1 was lost" in " ".join(found.sentences())
    assert explain(status, client_of(status, other).id).main.cause != "lost_gpu"
