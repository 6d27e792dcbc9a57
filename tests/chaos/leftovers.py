"""Checks that nothing is left behind, or still in use, when all programs have ended."""

import os
import time
from collections.abc import Callable, Iterator

from nvshare.errors import NvshareError
from nvshare.lab.emulator.report import read_report
from nvshare.telemetry.snapshot import NodeStatus

from .processes import descriptors
from .stage import SHM, Stage, has_mounts

# A daemon waits 10 s for clients of an earlier one to come back (daemon/node.py).
_PATIENCE = 45.0
# One is its connection; another one may be on its way.
_SOCKETS_PER_GPU = 2
# What wakes nvshare's thread in the program: both ends (native/common/bell.h).
_BELL = 2
# Our own, which the daemon may not have closed yet.
_CONNECTIONS = 2


def check_leftovers(stage: Stage) -> None:
    """End all programs, then the daemon, and fail if anything is left."""
    for text in _of_programs(stage):
        stage.journal.fail(text)
    for program in stage.programs:
        program.end()
    _until(lambda: list(_of_daemon(stage)), stage)
    _until(lambda: list(_of_node(stage)), stage)
    _until(lambda: list(_of_notes(stage)), stage)
    if code := stage.supervisor.end():
        stage.journal.fail(f"the daemon has ended with {code}")
    for text in (*_of_folders(stage), *_of_log(stage)):
        stage.journal.fail(text)


def _of_programs(stage: Stage) -> Iterator[str]:
    """Check that programs have closed descriptors they no longer need, after any reconnects."""
    for program in stage.programs:
        for pid in program.pids:
            try:
                names = list(descriptors(pid).values())
            except FileNotFoundError:  # it has just ended
                continue
            sockets = sum(name.startswith("socket:") for name in names)
            if sockets > _BELL + _SOCKETS_PER_GPU * len(program.role.gpus):
                yield f"program {program.role} has {sockets} sockets open: {sorted(names)}"


def _until(look: Callable[[], list[str]], stage: Stage) -> None:
    """Wait until nothing is found any more."""
    deadline = time.monotonic() + _PATIENCE
    while found := look():
        if time.monotonic() > deadline:
            for text in found:
                stage.journal.fail(text)
            return
        stage.supervisor.look_after()
        time.sleep(0.2)


def _of_daemon(stage: Stage) -> Iterator[str]:
    try:
        status = stage.supervisor.control.status()
    except (NvshareError, OSError) as error:
        yield f"the daemon does not answer at the end: {error}"
        return
    yield from _left_in_status(status)
    if memory := [name for name in descriptors(status.pid).values() if "memfd:" in name]:
        yield f"the daemon has memory files open: {memory}"
    opened = descriptors(status.pid).values()
    if len(opened) > stage.supervisor.fewest_descriptors + _CONNECTIONS:
        yield f"the daemon has more files open than a daemon without clients: {sorted(opened)}"


def _left_in_status(status: NodeStatus) -> Iterator[str]:
    for client in status.clients:
        yield f"the daemon still knows {client.program} (pid {client.pid})"
    for group in status.groups:
        yield f"the daemon still knows the group {group.name}"
    if status.host.kept or status.host.swapped_out:
        yield f"the host still keeps {status.host.kept} bytes"
    for device in status.devices:
        if device.allocated or device.running or device.waiting or device.clients:
            yield f"the daemon still reports GPU {device.index} as used: {device}"


def _of_node(stage: Stage) -> Iterator[str]:
    report = read_report(stage.node.folder)
    if report.difference:
        yield f"the node has miscounted: {report.difference}"
    for process in report.processes:
        if process.pid != stage.supervisor.pid and process.pid != os.getpid():
            yield f"{process.name} (pid {process.pid}) is still on the node"
    for gpu in report.gpus:
        used = gpu.plain_bytes + gpu.context_bytes + gpu.chunks + gpu.stolen_bytes
        if used:
            yield f"GPU {gpu.index} still has memory in use: {gpu}"
    if report.host_bytes:
        yield f"managed memory still has {report.host_bytes} bytes of host pages"


def _of_notes(stage: Stage) -> Iterator[str]:
    if left := _left(stage, "private/groups", set()):
        yield left


def _of_folders(stage: Stage) -> Iterator[str]:
    for name, allowed in (
        ("sockets", set()),
        ("private", {"daemon.lock", "groups"}),
        ("tmp", set()),
    ):
        if left := _left(stage, name, allowed):
            yield left
    if has_mounts() and (files := {path.name for path in SHM.iterdir()}):
        yield f"files are left in {SHM}: {sorted(files)}"


def _of_log(stage: Stage) -> Iterator[str]:
    """Find uncaught exceptions: they are mistakes even if the daemon goes on."""
    for line in (stage.kept / "daemon.log").read_text(encoding="utf-8").splitlines():
        if "traceback" in line.lower():
            yield f"the daemon has logged an exception: {line[:300]}"
            return


def _left(stage: Stage, name: str, allowed: set[str]) -> str | None:
    found = {path.name for path in (stage.folder / name).glob("*")} - allowed
    return f"files are left in the folder {name}: {sorted(found)}" if found else None
