"""Parked programs: their memory leaves the GPU, and they find it unchanged later."""

import json
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nvshare.cli.main import cli
from nvshare.errors import BadInputError
from nvshare.lab.emulator.report import ProcessReport, Report
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

from ..interposer.conftest import Guest
from .conftest import Sharing

Share = Callable[..., Sharing]
MIB = 1 << 20
GIB = 1 << 30
# The pattern that guests write into their memory, and check later.
WORDS = "bytes(range(256)) * 4096"
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
both = pytest.mark.parametrize("allocation", ["managed", "explicit"])


def nvshare(sharing: Sharing, *arguments: str) -> Result:
    """The output of a verb."""
    folder = str(sharing.daemon().path.parent)
    runner = CliRunner(env={"NVSHARE_SOCKET_DIR": folder, "COLUMNS": "200"})
    return runner.invoke(cli, arguments, prog_name="nvshare", catch_exceptions=False)


def client(status: NodeStatus, pid: int) -> ClientStatus:
    """The daemon's status of a program."""
    (found,) = (one for one in status.clients if one.pid == pid)
    return found


def is_away(pid: int, why: str) -> Callable[[NodeStatus], bool]:
    """Whether a program is parked, and all memory that can move has left."""

    def look(status: NodeStatus) -> bool:
        one = client(status, pid)
        away = one.swapped_out == one.allocated - one.pinned
        return one.parked == why and away and one.allocated > 0

    return look


def has_left(pid: int) -> Callable[[Report], bool]:
    """Whether a program has nothing on its GPU, as the GPU sees it."""

    def look(report: Report) -> bool:
        process = report.process(pid)
        return process is not None and _on_gpu(process) == 0

    return look


def _on_gpu(process: ProcessReport) -> int:
    return process.gpus[0].resident_bytes + process.gpus[0].plain_bytes


def fill(guest: Guest, size: int) -> int:
    """Have a guest allocate memory, with a pattern in its first MiB and in its last."""
    assert guest.ask("gpu.init()") == 0
    result, pointer = guest.ask(f"gpu.alloc({size})")
    assert result == 0
    for place in (pointer, pointer + size - MIB):
        copy = f"gpu.cuda.cuMemcpyHtoD_v2(gpu.word({place}), {WORDS}, gpu.word({MIB}))"
        assert guest.ask(copy) == 0
    return int(pointer)


def is_whole(guest: Guest, pointer: int, size: int) -> bool:
    """Whether all of it is unchanged."""
    copy = f"gpu.cuda.cuMemcpyDtoH_v2(b, gpu.word(p), gpu.word({MIB}))"
    look = f"(lambda b, p: {copy} == 0 and b.raw == {WORDS})"
    buffer = f"__import__('ctypes').create_string_buffer({MIB})"
    return all(guest.ask(f"{look}({buffer}, {p})") for p in (pointer, pointer + size - MIB))


@both
def test_an_idle_program_of_12_gb_leaves_the_gpu_and_comes_back(
    share: Share, allocation: str
) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", {"idle_park": 0.5})
    guest = sharing.guest(Wishes(allocation=allocation))
    pid = guest.process.pid
    assert guest.ask("gpu.init()") == 0
    result, pointer = guest.ask(f"gpu.alloc({12 * GIB})")
    assert result == 0
    assert guest.ask(f"[gpu.touch({pointer}), gpu.sync()]") == [0, 0]
    status = sharing.until_status(is_away(pid, "idle"))
    one = client(status, pid)
    assert (one.state, one.swapped_out) == ("idle", 12 * GIB)
    sharing.until_report(has_left(pid))
    # Its next call is one that asks for a turn, and everything comes back.
    assert guest.ask(f"[gpu.touch({pointer}), gpu.sync()]") == [0, 0]
    status = sharing.daemon().status()
    one = client(status, pid)
    assert (one.state, one.parked, one.swapped_out) == ("running", None, 0)
    account = sharing.account(pid)
    assert account.resident_bytes + account.plain_bytes >= 12 * GIB
    # It leaves again, whenever the program rests.
    sharing.until_status(is_away(pid, "idle"))
    assert guest.end() == ""


@both
def test_what_an_idle_program_has_written_is_what_it_finds(share: Share, allocation: str) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices("all", {"idle_park": 0.3})
    guest = sharing.guest(Wishes(allocation=allocation))
    pointer = fill(guest, 32 * MIB)
    for _ in range(3):
        sharing.until_status(is_away(guest.process.pid, "idle"))
        assert is_whole(guest, pointer, 32 * MIB)
    assert client(sharing.daemon().status(), guest.process.pid).turns >= 4
    assert guest.end() == ""


def test_who_works_now_and_then_is_not_parked(share: Share) -> None:
    sharing = share("tiny", speed=20)
    guest = sharing.guest()
    fill(guest, 32 * MIB)
    sharing.daemon().change_devices("all", {"idle_park": 1.0})
    end = time.monotonic() + 3.0
    while time.monotonic() < end:
        assert guest.ask("[gpu.launch(), gpu.sleep(0.2)]")[0] == 0
        assert client(sharing.daemon().status(), guest.process.pid).parked is None
    assert client(sharing.daemon().status(), guest.process.pid).moved_out == 0
    assert guest.end() == ""


@both
def test_a_busy_program_that_is_parked_by_hand_goes_on_where_it_was(
    share: Share, allocation: str
) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", {"turn_seconds": 0.3})
    wishes = Wishes(allocation=allocation)
    first = sharing.start(*workload_command("pytorch-add", "--iterations", "900"), wishes=wishes)
    sharing.until_status(lambda status: any(one.launches > 100 for one in status.clients))
    said = nvshare(sharing, "park", str(first.pid))
    assert said.exit_code == 0
    assert f"pid {first.pid}) is parked: 11.7 GiB leave the GPU" in said.stdout
    sharing.until_status(is_away(first.pid, "by hand"))
    # It comes to its gate when its last kernel is done.
    status = sharing.until_status(lambda status: client(status, first.pid).state == "waiting")
    sharing.until_report(has_left(first.pid))
    kernels = sharing.account(first.pid).kernels
    # Another of 12 GB has the GPU for itself, in one turn.
    second = sharing.start(*workload_command("pytorch-add", "--iterations", "300"), wishes=wishes)
    output, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    assert json.loads(output)["iterations"] == 300
    after = sharing.until_status(lambda status: len(status.clients) == 1)
    assert after.devices[0].turn_changes == status.devices[0].turn_changes
    one = client(after, first.pid)
    assert (one.parked, one.state, one.turns) == ("by hand", "waiting", 1)
    assert one.parked_seconds > 0
    assert "parked by hand" in nvshare(sharing, "status").stdout
    assert sharing.account(first.pid).kernels == kernels
    said = nvshare(sharing, "unpark", str(first.pid))
    assert said.exit_code == 0
    assert "goes on" in said.stdout
    output, errors = first.communicate(timeout=60)
    assert first.returncode == 0, errors
    assert json.loads(output)["iterations"] == 900


@both
def test_what_a_parked_program_has_written_is_what_it_finds(share: Share, allocation: str) -> None:
    sharing = share("tiny", speed=20)
    guest = sharing.guest(Wishes(allocation=allocation))
    pointer = fill(guest, 32 * MIB)
    pid = guest.process.pid
    nvshare(sharing, "park", str(pid))
    sharing.until_status(is_away(pid, "by hand"))
    # A call waits at its gate for as long as a person likes.
    guest.put("gpu.launch()")
    sharing.until_status(lambda status: client(status, pid).state == "waiting")
    time.sleep(0.3)
    assert client(sharing.daemon().status(), pid).parked == "by hand"
    nvshare(sharing, "unpark", str(pid))
    assert guest.answer() == 0
    assert is_whole(guest, pointer, 32 * MIB)
    assert guest.end() == ""


def test_who_joins_a_parked_group_is_parked_with_it(share: Share) -> None:
    sharing = share("tiny", speed=20)
    guest = sharing.guest(NVSHARE_GROUP="ab" * 16)
    fill(guest, 4 * MIB)
    nvshare(sharing, "park", str(guest.process.pid))
    other = sharing.guest(NVSHARE_GROUP="ab" * 16)
    other.put("gpu.init() or gpu.launch()")
    status = sharing.until_status(
        lambda status: (
            len(status.clients) == 2 and client(status, other.process.pid).state == "waiting"
        )
    )
    assert [one.parked for one in status.clients] == ["by hand"] * 2
    assert [group.parked for group in status.groups] == [True]
    nvshare(sharing, "unpark", str(other.process.pid))
    assert other.answer() == 0
    assert [guest.ask("gpu.launch()"), guest.end(), other.end()] == [0, "", ""]


def test_a_parked_program_runs_on_without_the_daemon_and_with_the_next(share: Share) -> None:
    sharing = share("tiny", speed=20)
    guest = sharing.guest()
    pointer = fill(guest, 32 * MIB)
    nvshare(sharing, "park", str(guest.process.pid))
    sharing.until_status(is_away(guest.process.pid, "by hand"))
    guest.put("gpu.launch()")
    sharing.kill_daemon()
    assert guest.answer() == 0
    sharing.start_daemon()
    status = sharing.until_status(lambda status: len(status.clients) == 1)
    assert client(status, guest.process.pid).parked is None
    assert is_whole(guest, pointer, 32 * MIB)


def test_a_parked_program_that_dies_is_gone(share: Share) -> None:
    sharing = share("tiny", speed=20)
    guest, other = sharing.guest(), sharing.guest()
    fill(guest, 32 * MIB)
    assert other.ask("[gpu.init(), gpu.launch()]") == [0, 0]
    nvshare(sharing, "park", str(guest.process.pid))
    sharing.kill(guest.process)
    status = sharing.until_status(lambda status: len(status.clients) == 1)
    assert (status.devices[0].parked, other.ask("gpu.launch()")) == (0, 0)


def test_what_the_host_cannot_hold_stays_and_park_says_so(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_node({"host_memory": "5Gi"})
    guest = sharing.guest()
    pid = guest.process.pid
    assert guest.ask("gpu.init()") == 0
    assert guest.ask(f"(lambda r: gpu.touch(r[1]))(gpu.alloc({12 * GIB}))") == 0
    said = nvshare(sharing, "park", str(pid)).stdout
    assert f"7.0 GiB of pid {pid} stay: host_memory allows 5.0 GiB" in said
    # Until the daemon knows that it has been used, all of it counts as away.
    status = sharing.until_status(
        lambda status: 4.9 * GIB <= client(status, pid).swapped_out <= 5 * GIB
    )
    one = client(status, pid)
    assert (one.parked, status.host.kept <= 5 * GIB) == ("by hand", True)
    assert nvshare(sharing, "unpark", str(pid)).exit_code == 0
    assert guest.ask("[gpu.launch(), gpu.sync()]") == [0, 0]


def test_bad_input_gets_a_clear_answer(share: Share) -> None:
    sharing = share("tiny", speed=20)
    guest = sharing.guest()
    fill(guest, 4 * MIB)
    pid = str(guest.process.pid)
    for verb in ("park", "unpark"):
        said = nvshare(sharing, verb, "nobody")
        assert (said.exit_code, 'no program is called "nobody"' in said.stderr) == (2, True)
    said = nvshare(sharing, "unpark", pid)
    assert (said.exit_code, "was not parked by hand" in said.stderr) == (2, True)
    assert nvshare(sharing, "park", pid).exit_code == 0
    said = nvshare(sharing, "park", pid)
    assert (said.exit_code, "is parked already" in said.stderr) == (2, True)
    shown = json.loads(nvshare(sharing, "unpark", pid, "--json").stdout)
    assert (shown["pids"], shown["parked"]) == ([int(pid)], False)


@both
def test_every_byte_is_right_however_often_programs_are_parked(
    share: Share, keeper: Path, allocation: str
) -> None:
    sharing = share("tiny", speed=20)
    settings = {"turn_seconds": 0.02, "lab": {"context": "24Mi"}, "reserve": "48Mi"}
    sharing.daemon().change_devices("all", settings)
    wishes = Wishes(allocation=allocation)
    programs = [
        sharing.start(keeper, "2", "120", str(seed), KERNELS, wishes=wishes) for seed in (1, 2)
    ]
    orders = 0
    deadline = time.monotonic() + 60
    while any(program.poll() is None for program in programs):
        assert time.monotonic() < deadline, orders
        for program in programs:
            try:
                orders += sharing.daemon().park(str(program.pid)).parked
                time.sleep(0.05)
                sharing.daemon().unpark(str(program.pid))
            except BadInputError:  # it has not come yet, or has ended
                time.sleep(0.005)
            else:
                # Long enough for all of its memory to come back.
                time.sleep(0.3)
    for program in programs:
        said, errors = program.communicate()
        wrong = [line for line in errors.splitlines() if not line.startswith("nvshare[")]
        assert (program.returncode, said, wrong) == (0, "ok\n", [])
    assert orders >= 2
    assert sharing.until_report(lambda _: True).difference is None


@pytest.mark.parametrize("mode", ["serial", "concurrent", "off"])
def test_by_hand_in_every_mode_and_on_all_gpus(share: Share, mode: str) -> None:
    sharing = share("2xtiny", speed=20)
    sharing.daemon().change_devices("all", {"mode": mode})
    guest = sharing.guest()
    pid = guest.process.pid
    for device in (0, 1):
        assert guest.ask(f"[gpu.init({device}), gpu.alloc({8 * MIB})[0], gpu.launch()]") == [0] * 3
    nvshare(sharing, "park", str(pid))
    status = sharing.until_status(
        lambda status: all(one.swapped_out == 8 * MIB for one in status.clients)
    )
    assert [one.parked for one in status.clients] == ["by hand"] * 2
    assert [gpu.parked for gpu in status.devices] == [1, 1]
    guest.put("gpu.launch()")
    sharing.until_status(lambda status: any(one.state == "waiting" for one in status.clients))
    nvshare(sharing, "unpark", str(pid))
    assert guest.answer() == 0
    assert guest.end() == ""
