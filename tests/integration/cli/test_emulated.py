"""Shells on emulated nodes: nothing is left when a node goes, and turns follow its speed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

NVSHARE = [sys.executable, "-m", "nvshare"]
Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a folder for nodes of its own."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NVSHARE_", "LD_"))}
    path = f"{Path(sys.executable).parent}:{inherited['PATH']}"
    return {**inherited, "PATH": path, "NVSHARE_EMULATOR_ROOT": str(tmp_path / "nodes")}


@pytest.fixture
def shell(environ: dict[str, str]) -> Shell:
    """Run a script."""

    def run(script: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/bash", "-c", script], env=environ, capture_output=True, text=True, timeout=100
        )

    return run


def test_a_node_that_goes_leaves_no_ghost(shell: Shell, tmp_path: Path) -> None:
    done = shell(
        """
        nvshare emulate up lab --gpus tiny --speed 100 > /dev/null || exit 9
        eval "$(nvshare emulate env lab)"
        nvshare run true || exit 8
        nvshare emulate down lab
        for verb in "run true" status "limit 1" daemon; do nvshare $verb; echo "$verb: $?"; done
        nvshare emulate ls
        nvshare emulate up lab --gpus tiny > /dev/null || exit 7
        nvshare run true && nvshare emulate down lab
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'eval "$(nvshare emulate env --unset)"' in done.stdout
    for verb in ("run true", "status", "limit 1", "daemon"):
        assert f"{verb}: 1\n" in done.stdout
    assert done.stderr.count('nvshare: the emulated node "lab" is gone') == 4
    assert "There is no emulated node." in done.stdout
    assert not list((tmp_path / "nodes").iterdir())


def test_a_shell_leaves_a_node_as_it_came(shell: Shell) -> None:
    done = shell(
        """
        export LD_LIBRARY_PATH="/has space:/b" LD_PRELOAD=
        before="$(env | grep -e ^LD_ -e ^NVSHARE_ | sort)"
        nvshare emulate up lab --gpus tiny > /dev/null
        eval "$(nvshare emulate env lab)"
        nvshare emulate down lab > /dev/null
        eval "$(nvshare emulate env --unset)"
        after="$(env | grep -e ^LD_ -e ^NVSHARE_ | sort)"
        diff <(echo "$before" | grep -v "^LD_PRELOAD=$") <(echo "$after")
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_daemon_of_a_node_keeps_its_time(shell: Shell) -> None:
    done = shell(
        """
        nvshare emulate up lab --gpus tiny --speed 20 > /dev/null
        eval "$(nvshare emulate env lab)"
        nvshare run true 2> /dev/null
        nvshare set --json
        nvshare emulate down lab > /dev/null
        """
    )
    settings = json.loads(done.stdout)["devices"][0]["settings"]
    assert (settings["lab"]["turn_min"], settings["lab"]["turn_max"]) == (1.5, 15.0)
    assert settings["lab"]["idle_grace"] == pytest.approx(0.0025)
    assert settings["turn_seconds"] == "auto"
    # Patience is for programs and people, which are real, so it is not scaled.
    assert (settings["revoke_patience"], settings["wait_notice"]) == (30.0, 5.0)


PROGRAM = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
size = int(sys.argv[1])
while size > 0:
    piece = ctypes.c_size_t(min(size, 1 << 30))
    assert cuda.cuMemAllocManaged(ctypes.byref(pointer), piece, 1) == 0
    size -= 1 << 30
"""


@pytest.mark.parametrize(
    ("data", "part", "said"), [("on", 1.1, 1), ("on", 0.5, 0), ("off", 1.1, 0)]
)
def test_more_memory_than_the_machine_has(
    environ: dict[str, str], data: str, part: float, said: int
) -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    command = ["emulate", "--gpus", "t4", "--data", data, "--", sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        [*NVSHARE, *command, str(int(machine * part))],
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("start the node with --data off") == said
    if said:
        assert f"and this machine has {machine * 10 // 2**30 / 10:.1f} GiB" in done.stderr
