import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nvshare.daemon import possession
from nvshare.daemon.devices import Gpu
from nvshare.daemon.possession import Possession
from nvshare.launch.holders import Holder, TakenError, lock_address

FIRST = Gpu(0, "GPU-00000000-0000-0000-0000-000000000001", "T", 1)
SECOND = Gpu(1, "GPU-00000000-0000-0000-0000-000000000002", "T", 1)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"NVSHARE_EMULATOR_NODE": str(tmp_path)}


def test_a_gpu_has_one_owner(environ: dict[str, str]) -> None:
    with Possession(environ) as one, Possession(environ) as other:
        one.take([FIRST])
        with pytest.raises(TakenError) as caught:
            other.take([FIRST, SECOND])
        assert FIRST.uuid in caught.value.what
        assert SECOND.uuid not in caught.value.what
    with Possession(environ) as third:
        third.take([FIRST, SECOND])


def test_each_gpu_is_locked_by_itself(environ: dict[str, str]) -> None:
    with Possession(environ) as one, Possession(environ) as other:
        one.take([FIRST])
        assert other.take_one(SECOND) is not None
        # What it has already, it keeps.
        assert other.take_one(SECOND) is other.take_one(SECOND)


def test_one_who_wants_to_be_beside_others_locks_nothing(environ: dict[str, str]) -> None:
    with Possession(environ, is_shared=True) as one, Possession(environ) as other:
        assert one.take_one(FIRST) is None
        assert other.take_one(FIRST) is not None
        one.take([FIRST])


def test_one_who_only_has_the_name(environ: dict[str, str]) -> None:
    with socket.socket(socket.AF_UNIX) as sock, Possession(environ) as late:
        sock.bind(lock_address(FIRST.uuid, environ))
        with pytest.raises(TakenError) as caught:
            late.take([FIRST])
    assert "a process that does not answer" in str(caught.value.why)


def test_the_end_of_a_process_is_the_end_of_its_locks(environ: dict[str, str]) -> None:
    program = f"""
import os
from nvshare.daemon.devices import Gpu
from nvshare.daemon.possession import Possession
Possession({environ!r}).take([Gpu(0, {FIRST.uuid!r}, "T", 1)])
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with Possession(environ) as heir:
        heir.take([FIRST])


def test_a_daemon_that_cannot_be_seen_is_respected(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = Holder("the GPUs of this machine", 0, 0, "", folder=Path("/run/nvshare"))
    monkeypatch.setattr(possession, "hidden_daemon", lambda _: hidden)
    with pytest.raises(TakenError, match="another daemon shares the GPUs of this machine"):
        Possession(environ).check_hidden()
    Possession(environ, is_shared=True).check_hidden()
