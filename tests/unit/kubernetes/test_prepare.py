import os
import subprocess
import sys
from pathlib import Path

import nvshare


def prepare(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "nvshare.kubernetes.prepare", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_node_with_gpus(tmp_path: Path) -> None:
    done = prepare(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [nvshare.__version__]


def test_an_emulated_node_is_for_every_user_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "emulated" / "worker-1"
    for _ in range(2):
        done = prepare(tmp_path / "lib", "--emulated", folder, "--gpus", "2xtiny", "--speed", "5")
        assert done.returncode == 0, done.stderr
        state = folder / "state"
        assert state.stat().st_mode & 0o777 == 0o666
        assert folder.stat().st_mode & 0o777 == 0o755
        # Programs that use the node now still do so afterwards.
        if not (folder / "mark").exists():
            (folder / "mark").touch()
            before = state.stat().st_ino
    assert state.stat().st_ino == before


def test_other_gpus_make_another_node(tmp_path: Path) -> None:
    folder = tmp_path / "worker-1"
    for gpus in ("1xtiny", "2xtiny"):
        assert prepare(tmp_path / "lib", "--emulated", folder, "--gpus", gpus).returncode == 0
    assert (folder / "node.conf").read_text().count("[gpu]") == 2


def test_gpus_that_do_not_exist(tmp_path: Path) -> None:
    done = prepare(tmp_path, "--emulated", tmp_path / "n", "--gpus", "1xnone")
    assert done.returncode == 1
    assert "none" in done.stderr
    assert not os.path.lexists(tmp_path / "n")
