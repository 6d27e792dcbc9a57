import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nvshare.daemon.gpus import locks as gpu_locks
from nvshare.daemon.gpus.locks import GpuLocks
from nvshare.daemon.gpus.root_lock import lock_for_root
from nvshare.daemon.gpus.survey import Gpu
from nvshare.launch.holders import Holder, TakenError, lock_address

FIRST = Gpu(0, "GPU-00000000-0000-0000-0000-000000000001", "T", 1)
SECOND = Gpu(1, "GPU-00000000-0000-0000-0000-000000000002", "T", 1)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"NVSHARE_EMULATOR_NODE": str(tmp_path)}


def test_a_gpu_has_one_owner(environ: dict[str, str]) -> None:
    with GpuLocks(environ) as one, GpuLocks(environ) as other:
        one.take([FIRST])
        with pytest.raises(TakenError) as caught:
            other.take([FIRST, SECOND])
        assert FIRST.uuid in caught.value.what
        assert SECOND.uuid not in caught.value.what
    with GpuLocks(environ) as third:
        third.take([FIRST, SECOND])


def test_each_gpu_is_locked_by_itself(environ: dict[str, str]) -> None:
    with GpuLocks(environ) as one, GpuLocks(environ) as other:
        one.take([FIRST])
        assert other.take_one(SECOND) is not None
        # It keeps a GPU that it has already.
        assert other.take_one(SECOND) is other.take_one(SECOND)


def test_one_who_wants_to_be_beside_others_locks_nothing(environ: dict[str, str]) -> None:
    with GpuLocks(environ, is_shared=True) as one, GpuLocks(environ) as other:
        assert one.take_one(FIRST) is None
        assert other.take_one(FIRST) is not None
        one.take([FIRST])


def test_one_who_only_has_the_name(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 61001)
    with socket.socket(socket.AF_UNIX) as sock, GpuLocks(environ) as late:
        sock.bind(lock_address(FIRST.uuid, environ))
        with pytest.raises(TakenError) as caught:
            late.take([FIRST])
    assert "a process that does not answer" in str(caught.value.why)


SQUATS = """
import os, socket, sys
os.setuid(61001)
sock = socket.socket(socket.AF_UNIX)
sock.bind(sys.argv[1].replace("@", chr(0), 1))
if sys.argv[2] == "listens":
    sock.listen()
print("has it", flush=True)
sys.stdin.read()
"""


@pytest.mark.needs("root")
@pytest.mark.parametrize("how", ["listens", "does not"])
def test_nobody_keeps_root_from_its_gpus(
    environ: dict[str, str], how: str, caplog: pytest.LogCaptureFixture
) -> None:
    address = lock_address(FIRST.uuid, environ).replace("\0", "@", 1)
    squatter = subprocess.Popen(
        [sys.executable, "-c", SQUATS, address, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert squatter.stdout is not None
        assert squatter.stdout.readline() == "has it\n"
        with GpuLocks(environ) as one, GpuLocks(environ) as other:
            # There is no name to ask at.
            assert one.take_one(FIRST) is None
            assert one.take_one(FIRST) is None
            assert "goes on without it" in caplog.text
            # Another daemon of root is told to stay away all the same.
            with pytest.raises(TakenError):
                other.take([FIRST])
        with GpuLocks(environ) as next_daemon:
            next_daemon.take([FIRST])
    finally:
        squatter.communicate()


@pytest.mark.needs("root")
def test_a_daemon_of_root_that_has_the_name_alone_is_respected(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in a container, whose files are its own, and its sockets are where we see them."""
    with GpuLocks(environ) as one, GpuLocks(environ) as other:
        monkeypatch.setattr(gpu_locks, "lock_for_root", lambda *_: None)
        one.take([FIRST])
        monkeypatch.undo()
        monkeypatch.setattr(gpu_locks, "usable", lambda holders: next(iter(holders)))
        with pytest.raises(TakenError):
            other.take([FIRST])
        # The lock taken on the way is free again.
        lock = lock_for_root(FIRST.uuid, environ)
        assert isinstance(lock, int)
        os.close(lock)


def test_the_end_of_a_process_is_the_end_of_its_locks(environ: dict[str, str]) -> None:
    program = f"""
import os
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.gpus.locks import GpuLocks
from nvshare.daemon.gpus.root_lock import lock_for_root
GpuLocks({environ!r}).take([Gpu(0, {FIRST.uuid!r}, "T", 1)])
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with GpuLocks(environ) as next_daemon:
        next_daemon.take([FIRST])


def test_a_daemon_that_cannot_be_seen_is_respected(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = Holder("the GPUs of this machine", 0, 0, "", folder=Path("/run/nvshare"))
    monkeypatch.setattr(gpu_locks, "hidden_daemon", lambda _: hidden)
    with pytest.raises(TakenError, match="another daemon shares the GPUs of this machine"):
        GpuLocks(environ).check_hidden()
    GpuLocks(environ, is_shared=True).check_hidden()
