"""The output of verbs on terminals of several widths, in ASCII, without colours and in pipes."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from nvshare.wire import frames

from .conftest import Daemon

GIB = 1 << 30
NVSHARE = [sys.executable, "-m", "nvshare"]
ROOT = Path(__file__).parents[3]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def busy(daemon: Daemon) -> Daemon:
    """A daemon with two programs, one of which waits."""
    for size in (12 * GIB, 11 * GIB):
        client = daemon.connect()
        client.join(daemon.gpus[0], allocated=size, flags=frames.HelloFlags.WANTS)
    return daemon


def environ(daemon: Daemon, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in daemon.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    return {**kept, "NVSHARE_SOCKET_DIR": str(daemon.folder), "TERM": "xterm-256color", **more}


def on_terminal(daemon: Daemon, columns: int, *arguments: str, **more: str) -> str:
    """Run a verb on a terminal of so many columns; return all that it has written there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*NVSHARE, *arguments],
        env=environ(daemon, **more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 1 << 16):
            said += data
    except OSError:  # the other side is closed
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=60) == 0, said
    return said.decode().replace("\r\n", "\n")


def piped(daemon: Daemon, *arguments: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    command = [*NVSHARE, *arguments]
    return subprocess.run(command, env=environ(daemon, **more), capture_output=True, timeout=60)


PROGRAM = Path(sys.argv[0]).name


@pytest.mark.parametrize("verb", ["status", "limit"])
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_tables_are_whole_at_every_width(busy: Daemon, columns: int, verb: str) -> None:
    text = ESCAPES.sub("", on_terminal(busy, columns, verb))
    assert max(map(len, text.splitlines())) <= columns
    assert "…" not in text
    joined = "".join(text.split())
    # The board leaves columns out by itself: README and docs say which verb shows all of them.
    assert ("Noroomfor:" in joined) == (columns < 200 and verb == "limit")
    for word in ("12.0G", "11.0G") if verb == "status" else ("1and1more", "0.0GiB"):
        assert word in joined


def test_the_ids_are_shown_wherever_a_program_is(busy: Daemon) -> None:
    for verb, first in (("status", r"(?m)^ *0 +1 +\d+ "), ("limit", "│ 1 "), ("ls", "1\t")):
        assert re.search(first, piped(busy, verb).stdout.decode())
    assert piped(busy, "limit", "1", "--memory", "13Gi").returncode == 0
    assert busy.control.group("1").limits.memory_limit == 13 * GIB


def test_nothing_is_cut_in_a_pipe(busy: Daemon) -> None:
    said = piped(busy, "status", COLUMNS="40").stdout.decode()
    headings = ("id", "GPU", "pid", "program", "allocation", "limit", "turns", "waited", "moved")
    assert all(heading in said for heading in headings)
    assert "No room" not in said


def test_no_colour_and_no_other_characters(busy: Daemon) -> None:
    assert "\x1b[" in on_terminal(busy, 200, "status")
    assert "\x1b[3" not in on_terminal(busy, 200, "status", NO_COLOR="1")
    for arguments in (["status"], ["limit"], ["set", "--help"], ["emulate", "profiles"]):
        done = piped(busy, *arguments, PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
    assert b"12.0G" in piped(busy, "status", PYTHONIOENCODING="ascii").stdout


def complete(daemon: Daemon, *words: str) -> list[str]:
    """Have a real bash complete a line, with its completion script."""
    line = " ".join(f"'{word}'" for word in words)
    script = f"""
        eval "$(nvshare completion bash)"
        COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}
        _nvshare_completion nvshare
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        env=environ(daemon, PATH=path),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_a_shell_completes_what_there_is(busy: Daemon) -> None:
    first, second, name = complete(busy, "nvshare", "limit", "")
    assert (first, second) == ("1", "2")
    assert name == busy.control.groups()[0].name
    assert complete(busy, "nvshare", "park", "2") == ["2"]
    assert complete(busy, "nvshare", "run", "--gpu", "") == ["0", "1"]
    assert complete(busy, "nvshare", "run", "--gpu", "0,") == ["0,0", "0,1"]
    assert complete(busy, "nvshare", "set", "--gpu", "1") == ["1"]
    assert complete(busy, "nvshare", "simulate", "T2") == ["T2a", "T2s"]
    assert complete(busy, "nvshare", "emulate", "up", "--gpus", "h1") == ["h100-80g"]
    busy.stop()
    assert complete(busy, "nvshare", "limit", "") == []


def keys_of(value: Any) -> set[str]:
    """Return all keys of a value, without those that people choose themselves."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if not isinstance(value, dict):
        return set()
    closed = {
        *("settings", "environment", "sources", "pinned_by", "refusals_by", "used_percent"),
        "readings",
    }
    below = [keys_of(one) for key, one in value.items() if key not in closed]
    return set(value).union(*below)


def documented() -> set[str]:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return {key for row in rows for key in re.findall(r"`([a-z_0-9]+)`", row.split("|")[1])}


def test_every_key_is_in_the_list(busy: Daemon, tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(piped(busy, "status", "--journal").stdout)
    known = documented()
    seen: set[str] = set()
    more = {"NVSHARE_EMULATOR_ROOT": str(tmp_path / "nodes")}
    for arguments in (
        ["status"],
        ["ls"],
        ["limit"],
        ["limit", "1", "--compute", "40"],
        ["set"],
        ["set", "--gpu", "0", "turn=40"],
        ["park", "2"],
        ["unpark", "2"],
        ["trace", "--seconds", "0.1", "-o", str(tmp_path / "t.json")],
        ["doctor"],
        ["replay", str(tmp_path / "journal")],
        ["simulate", "T1"],
        ["simulate", "--list"],
        ["emulate", "profiles"],
        ["emulate", "up", "lab"],
        ["emulate", "ls"],
        ["emulate", "env", "lab"],
        ["emulate", "smi", "lab"],
    ):
        done = piped(busy, *arguments, "--json", **more)
        assert done.returncode == 0, (arguments, done)
        lines = done.stdout.decode().splitlines()
        assert lines, arguments
        for line in lines:
            keys = keys_of(json.loads(line))
            assert keys <= known, (arguments, keys - known)
            seen |= keys
    assert {"id", "pid", "program", "device", "index", "uuid", "name"} <= seen
