"""Completion by the real shells, with the script for each (bash: test_terminals.py).

They complete names that come with the package, so that no daemon is needed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..sharing.terminal import Terminal


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user without any settings, with nvshare on the path."""
    kept = {"LANG", "NVSHARE_EMULATOR_NODE"} & os.environ.keys()
    return {
        **{name: os.environ[name] for name in kept},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "PS1": "> ",
    }


@pytest.mark.needs("fish")
def test_fish(environment: dict[str, str]) -> None:
    offered = {
        "nvshare statu": {"status": "Show"},
        # In a list, too; and explanations go on behind a comma.
        "nvshare emulate up --gpus t4,2xti": {"t4,2xtiny": "nvshare tiny"},
        "nvshare status --watc": {"--watch": "Repeat every "},
        "nvshare nonsens": {},
    }
    lines = "".join(f"complete --do-complete '{line}'; echo end\n" for line in offered)
    done = subprocess.run(
        [shutil.which("fish") or "", "--no-config"],
        input=f"nvshare completion fish | source\n{lines}",
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *answers, rest = done.stdout.split("end\n")
    assert rest == ""
    for answer, expected in zip(answers, offered.values(), strict=True):
        found = dict(row.split("\t") for row in answer.splitlines())
        assert found.keys() == expected.keys()
        assert all(found[name].startswith(text) for name, text in expected.items())


@pytest.mark.needs("zsh")
def test_zsh(environment: dict[str, str]) -> None:
    # A user without settings files, whose zsh has not started its completion.
    terminal = Terminal(["zsh", "-f", "-i"], environment, (100, 24))
    try:
        # Keys typed before the shell reads are lost.
        terminal.until(lambda text: bool(text.strip()))
        terminal.type('eval "$(nvshare completion zsh)"; echo ready\r')
        terminal.until(lambda text: "\nready" in text)
        assert "not found" not in terminal.text
        terminal.type("nvshare statu\t")
        terminal.until(lambda text: "nvshare status " in text)
        terminal.type("\x15nvshare emulate up --gpus 2xt\t")
        text = terminal.until(lambda text: "2xtiny" in text)
        assert "2xt4" in text
        terminal.type("\x15exit\r")
        assert terminal.end() == 0
    finally:
        terminal.close()
