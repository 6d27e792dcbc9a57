"""The report of a node: its own account of its GPUs and processes."""

import ctypes
import dataclasses
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import NVML, library_folder
from nvshare.lab.emulator.report import Account, read_report

if TYPE_CHECKING:
    import subprocess

MakeNode = Callable[..., Node]
Guest = Callable[..., "subprocess.Popen[str]"]
Eventually = Callable[[Callable[[], bool]], None]

MIB = 1024**2


def test_a_fresh_node(make_node: MakeNode) -> None:
    node = make_node("1xtiny,1xt4", speed=2.5)
    report = read_report(node.folder)
    assert (report.speed, report.deaths, report.recoveries) == (2.5, 0, 0)
    assert report.difference is None
    assert report.processes == ()
    assert [gpu.index for gpu in report.gpus] == [0, 1]
    assert report.gpus[0].free_bytes == 248 * MIB
    assert report.gpus[0].uuid != report.gpus[1].uuid
    assert read_report(node.folder).clock_ns > report.clock_ns


def test_what_processes_hold_and_have_used(
    make_node: MakeNode, guest: Guest, eventually: Eventually
) -> None:
    node = make_node("2xtiny", speed=100)
    busy_ns = 10**9
    process = guest(node, gpu=1, plain_bytes=5 * MIB, blocks=3, busy_ns=busy_ns)
    eventually(lambda: read_report(node.folder).gpus[1].busy_ns >= busy_ns)
    report = read_report(node.folder)
    found = report.process(process.pid)
    assert found is not None
    assert found.name == "node_guest"
    assert found.gpus[0] == Account(*[0] * len(dataclasses.fields(Account)))
    assert found.host_bytes == 0
    account = found.gpus[1]
    assert (account.contexts, account.context_bytes) == (1, 8 * MIB)
    assert (account.plain_bytes, account.resident_bytes) == (5 * MIB, 6 * MIB)
    assert account.compute_ns == pytest.approx(busy_ns, rel=1e-6)
    assert report.gpus[1].plain_bytes == 5 * MIB
    assert report.gpus[1].resident_blocks == 3
    assert account.chunk_bytes == 6 * MIB
    assert (report.gpus[1].chunks, report.gpus[1].surplus_bytes) == (3, 122 * MIB)
    assert report.gpus[1].free_bytes == (248 - 8 - 5 - 128) * MIB
    assert report.difference is None


def test_deaths_are_counted(make_node: MakeNode, guest: Guest, eventually: Eventually) -> None:
    node = make_node("1xtiny")
    victims = [guest(node, plain_bytes=MIB) for _ in range(3)]
    for victim in victims:
        victim.send_signal(signal.SIGKILL)
        victim.wait(timeout=10)
    eventually(lambda: read_report(node.folder).deaths == 3)
    report = read_report(node.folder)
    assert report.processes == ()
    assert report.gpus[0].free_bytes == 248 * MIB


def test_more_processes_than_the_first_guess_has_room_for(
    make_node: MakeNode, guest: Guest
) -> None:
    node = make_node("15xtiny")
    pids = {guest(node, contexts=0).pid for _ in range(8)}
    report = read_report(node.folder)
    assert {process.pid for process in report.processes} == pids


def test_the_call_says_how_much_room_it_needs(node: Node) -> None:
    library = ctypes.CDLL(str(library_folder() / NVML))
    folder = str(node.folder).encode()
    size = ctypes.c_uint(0)
    assert library.nvshareEmulatorReport(folder, None, ctypes.byref(size)) == 7
    assert 500 < size.value < 5000
    buffer = ctypes.create_string_buffer(size.value + 100)
    size.value += 100
    assert library.nvshareEmulatorReport(folder, buffer, ctypes.byref(size)) == 0
    assert len(buffer.value) + 1 == size.value
    assert library.nvshareEmulatorReport(None, buffer, ctypes.byref(size)) == 2
    assert library.nvshareEmulatorReport(folder, buffer, None) == 2


def test_a_folder_without_a_node_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(NvshareError, match="no emulated node"):
        read_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_node(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "node.conf").write_text("nonsense\n")
    with pytest.raises(NvshareError, match="cannot be read"):
        read_report(tmp_path)
    assert "nonsense" in capfd.readouterr().err
