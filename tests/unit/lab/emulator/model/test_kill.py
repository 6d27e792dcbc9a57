"""A process killed at any instruction of a change leaves a node that works.

lab/tests/kill_at_every_instruction does this and checks it. It fails, and says why, where ptrace
is not permitted.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

# A short change is interrupted after every instruction, a long one after each that leaves a trace
# and after others here and there.
CHANGES = {
    "join": 1,
    "submit": 1,
    "plain": 1,
    "handle": 1,
    "copy": 20,
    "context": 1,
    "range": 1,
    "faults": 50,
    "prefetch": 50,
    "prefetch-out": 50,
    "advance": 20,
    "reap": 1000,
    "recover": 100,
}


@pytest.fixture(scope="session")
def program(build_with_model: Callable[..., Path]) -> Path:
    # As it is shipped: without sanitizers, which have other instructions. Symbols are looked up
    # when the program starts, so that the first call of a function is as long as the others.
    return build_with_model("kill_at_every_instruction", "-O2", "-Wl,-z,now")


@pytest.fixture
def node(make_conf: Callable[..., Path]) -> Iterator[str]:
    """A node where nodes live: in shared memory."""
    conf = make_conf("tiny")
    with TemporaryDirectory(prefix="nvshare-test-", dir="/dev/shm") as folder:
        shutil.copy(conf, folder)
        yield folder


@pytest.mark.parametrize(("change", "stride"), CHANGES.items())
def test_killed_at_any_instruction(program: Path, node: str, change: str, stride: int) -> None:
    done = subprocess.run(
        [program, change, str(stride)],
        env={"NVSHARE_EMULATOR_NODE": node},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr.splitlines()[-1:]
    result = json.loads(done.stdout)
    assert result["marked"] >= 20
    assert result["kills"] >= max(result["marked"], result["instructions"] // stride)
