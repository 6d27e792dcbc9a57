"""Outsiders on a GPU are noticed, and their memory does not count as room for programs."""

import os
import subprocess
from collections.abc import Callable

from nvshare.cli.status_table import notes
from nvshare.daemon.usage.outsiders import UNKNOWN
from nvshare.lab.emulator.fault import steal_memory
from nvshare.lab.emulator.libraries import library_folder

from ..interposer.conftest import GUEST, GUEST_COMMAND, Guest
from .conftest import Sharing

GIB = 1 << 30


def bare(sharing: Sharing) -> Guest:
    """Start a program on the node without nvshare."""
    environ = {**os.environ, **sharing.node.environment(library_folder(), os.environ)}
    process = subprocess.Popen(
        GUEST_COMMAND,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return Guest(process)


def test_a_process_outside_takes_room_until_it_ends(share: Callable[..., Sharing]) -> None:
    sharing = share("1xt4", speed=20, data="off")
    inside = sharing.guest()
    assert inside.ask("gpu.init() or gpu.alloc(5 << 30)[0] == 0") is True
    usable = sharing.until_status(lambda now: bool(now.clients)).devices[0].usable
    outsider = bare(sharing)
    try:
        assert outsider.ask("gpu.init() or gpu.alloc(3 << 30)[0] == 0") is True
        status = sharing.until_status(lambda now: bool(now.devices[0].outside))
        (seen,) = status.devices[0].outside
        assert (seen.pid, seen.uid, seen.program) == (
            outsider.process.pid,
            os.getuid(),
            GUEST.name,
        )
        # With its context.
        assert 3 * GIB <= seen.memory < 4 * GIB
        assert status.devices[0].usable == usable - seen.memory
        (note,) = notes(status)
        assert f"guest.py (pid {seen.pid}, " in note
    finally:
        outsider.process.kill()
        outsider.process.communicate()
    status = sharing.until_status(lambda now: not now.devices[0].outside)
    assert status.devices[0].usable == usable


def test_memory_that_nobody_accounts_for(share: Callable[..., Sharing]) -> None:
    sharing = share("1xt4", speed=20, data="off")
    inside = sharing.guest()
    assert inside.ask("gpu.init() or gpu.alloc(5 << 30)[0] == 0") is True
    usable = sharing.until_status(lambda now: bool(now.clients)).devices[0].usable
    steal_memory(sharing.node, 0, 9 * GIB)
    status = sharing.until_status(lambda now: bool(now.devices[0].outside))
    (seen,) = status.devices[0].outside
    assert (seen.pid, seen.program) == (0, UNKNOWN)
    # The program's own 5 GiB may be on the GPU, or not yet: no more is claimed than is certain.
    assert 3 * GIB <= seen.memory <= 9 * GIB
    assert status.devices[0].usable == usable - seen.memory
    steal_memory(sharing.node, 0, 0)
    sharing.until_status(lambda now: not now.devices[0].outside)
