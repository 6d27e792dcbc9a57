import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nvshare import kernel


def test_a_process_is_signalled_and_its_end_is_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        descriptor = kernel.pidfd_open(process.pid)
        try:
            assert select.select([descriptor], [], [], 0)[0] == []
            kernel.pidfd_send_signal(descriptor, signal.SIGTERM)
            assert select.select([descriptor], [], [], 30)[0] == [descriptor]
        finally:
            os.close(descriptor)
        assert process.wait() == -signal.SIGTERM


def test_a_process_that_is_not_there_is_not_found() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    with pytest.raises(ProcessLookupError):
        kernel.pidfd_open(process.pid)


def test_a_memory_file_keeps_its_size_when_sealed() -> None:
    descriptor = kernel.memory_file("a name")
    try:
        assert str(Path(f"/proc/self/fd/{descriptor}").readlink()) == "/memfd:a name (deleted)"
        assert not os.get_inheritable(descriptor)
        os.ftruncate(descriptor, 8192)
        kernel.seal_size(descriptor)
        for size in (4096, 16384):
            with pytest.raises(PermissionError):
                os.ftruncate(descriptor, size)
        assert os.pwrite(descriptor, b"x", 8191) == 1
    finally:
        os.close(descriptor)


# Only some Pythons have these. One line that needs one, and nvshare does not start on the others.
_RARE = (
    *("os.memfd_create", "os.MFD_", "os.pidfd_open", "os.getrandom", "os.copy_file_range"),
    *("os.unshare", "os.setns", "signal.pidfd_send_signal", "fcntl.F_ADD_SEALS", "fcntl.F_SEAL_"),
    "fcntl.F_OFD_",
)


def test_nothing_else_needs_what_only_some_pythons_have() -> None:
    found = [
        f"{path}: {name}"
        for path in Path(kernel.__file__).parent.rglob("*.py")
        for name in _RARE
        if name in path.read_text()
    ]
    assert found == [], "ask nvshare.kernel"
