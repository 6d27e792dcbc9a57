"""The completions that a shell is offered. tests/integration/cli tries them in real shells."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli.completing import COMPLETE


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that gives the completions of a line's last word."""

    def complete(*words: str, **environ: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "nvshare"],
            env={
                **os.environ,
                COMPLETE: "bash_complete",
                "COMP_WORDS": " ".join(["nvshare", *words]),
                "COMP_CWORD": str(len(words)),
                **environ,
            },
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        return [line.partition(",")[2] for line in done.stdout.splitlines() if line]

    monkeypatch.setenv("NVSHARE_SOCKET_DIR", "/nonexistent")
    return complete


def test_verbs(offered: Callable[..., list[str]]) -> None:
    assert offered("st") == ["status"]
    assert {"up", "down", "smi"} <= set(offered("emulate", ""))


def test_names_that_come_with_the_package(offered: Callable[..., list[str]]) -> None:
    assert "T2a" in offered("simulate", "T")
    assert "eight-on-one" in offered("bench", "scenario", "eight")
    assert offered("emulate", "up", "--gpus", "2xt4,1xa100") == ["2xt4,1xa100-40g"]
    assert offered("set", "idle") == ["idle_park="]
    assert offered("set", "interactive=p") == ["interactive=prompt"]
    assert offered("set", "policy=f") == ["policy=fair", "policy=fifo"]
    assert "auto" in offered("simulate", "T1", "--policy", "")


def test_where_there_is_nobody_to_ask_there_is_nothing_to_offer(
    offered: Callable[..., list[str]], tmp_path: Path
) -> None:
    assert offered("limit", "") == []
    assert offered("run", "--gpu", "", LD_LIBRARY_PATH=str(tmp_path)) == []


def test_a_broken_verb_prints_no_traceback(
    offered: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "nvshare").mkdir()
    # Every import of click's tables from here on fails.
    (tmp_path / "rich.py").write_text("raise RuntimeError('broken')")
    assert offered("limit", "--mem", PYTHONPATH=str(tmp_path)) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(call: Callable[..., Result], shell: str) -> None:
    said = call("completion", shell)
    assert said.exit_code == 0
    assert f"{COMPLETE}={shell}_complete" in said.stdout
    assert call("completion", "tcsh").exit_code == 2
