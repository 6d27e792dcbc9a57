"""A live daemon's trace of two real programs that do not fit together."""

import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from nvshare.cli.main import cli
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from nvshare.telemetry.trace.items import Item
from nvshare.telemetry.trace.recording import gather
from tests.trace_rules import check_trace, slices_of

from .conftest import Sharing

Share = Callable[..., Sharing]
GIB = 1 << 30
SECONDS = 5.0


@pytest.fixture
def short_turns(tmp_path: Path) -> dict[str, str]:
    """Settings with which turns change every second."""
    config = tmp_path / "config.toml"
    config.write_text("[gpu]\nturn_seconds = 1\n")
    return {"NVSHARE_CONFIG": str(config)}


def start(sharing: Sharing, memory: int, wishes: Wishes | None = None) -> "subprocess.Popen[str]":
    program = installed_program("workloads", "driver-kernels")
    options = ("--kernel", "0.005", "--memory", str(memory))
    return sharing.start(program, *options, wishes=wishes)


def inside(one: tuple[float, float], spans: list[tuple[float, float]]) -> bool:
    return any(begin <= one[0] and one[1] <= end for begin, end in spans)


def test_two_that_take_turns(
    share: Share, short_turns: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing = share("1xt4", speed=20.0, data="off", settings=short_turns)
    pids = [start(sharing, 10 * GIB).pid for _ in range(2)]
    sharing.until_status(lambda now: any(gpu.turn_changes >= 2 for gpu in now.devices))
    before = sharing.daemon().status()
    monkeypatch.setenv("NVSHARE_SOCKET_DIR", str(sharing.daemon().path.parent))
    files = {suffix: tmp_path / f"t.{suffix}" for suffix in ("json", "svg")}
    command = ["trace", "--seconds", str(SECONDS), "--json", "-o"]
    # Both at the same time: every listener gets the same trace.
    other = threading.Thread(target=lambda: CliRunner().invoke(cli, [*command, str(files["svg"])]))
    other.start()
    result = CliRunner().invoke(cli, [*command, str(files["json"])])
    other.join()
    assert result.exit_code == 0, result.output
    after = sharing.daemon().status()
    said, trace = json.loads(result.output), json.loads(files["json"].read_text())
    check_trace(trace)
    assert said["programs"] == 2
    assert said["dropped"] == 0
    assert trace["otherData"]["seconds"] == pytest.approx(SECONDS, abs=0.3)
    assert files["svg"].read_text().startswith("<svg")

    names = {
        pid: event["args"]["name"]
        for pid in pids
        for event in trace["traceEvents"]
        if event["name"] == "thread_name" and event["args"]["name"].endswith(f"(pid {pid})")
    }
    turns = {pid: slices_of(trace, name, "turn") for pid, name in names.items()}
    first, second = pids
    # Only one has a turn, and turns change all along: except for moves, one always has a turn.
    for mine in turns[first]:
        for theirs in turns[second]:
            assert mine[1] <= theirs[0] or theirs[1] <= mine[0]
    assert min(map(len, turns.values())) >= 2
    for pid, name in names.items():
        computing = slices_of(trace, name, "computing")
        assert computing
        assert all(inside(one, turns[pid]) for one in computing)
        waiting = slices_of(trace, name, "waiting")
        assert waiting
        assert not any(inside(one, turns[pid]) for one in waiting)
        fills = slices_of(trace, name, "memory_in")
        assert fills
        assert all(inside(one, turns[pid]) for one in fills)
        # It begins its turns with that.
        assert {fill[0] for fill in fills[1:]} <= {turn[0] for turn in turns[pid]}
        assert slices_of(trace, f"{name}: memory", "move")
    memory = [event["args"] for event in trace["traceEvents"] if event["ph"] == "C"]
    assert max(one["away"] for one in memory) > 5 * GIB
    for pid, name in names.items():
        attributed = [
            client.attribution.waiting
            for status in (before, after)
            for client in status.clients
            if client.pid == pid
        ]
        waited = sum(end - begin for begin, end in slices_of(trace, name, "waiting"))
        # Part of it was before and after the recording.
        assert waited <= attributed[1] - attributed[0] + 0.01


def test_who_is_held_back_and_who_comes_and_goes_meanwhile(share: Share) -> None:
    sharing = share("1xt4", data="off")
    held = start(sharing, GIB, Wishes(compute_percent=20)).pid
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    items: list[Item] = []
    thread = threading.Thread(target=lambda: sharing.daemon().trace(3, items.append))
    thread.start()
    guest = start(sharing, GIB)
    sharing.until_status(
        lambda now: any(one.pid == guest.pid and one.launches for one in now.clients)
    )
    sharing.kill(guest)
    thread.join()
    recording = gather(items)
    lives = {life.program.pid: life for life in recording.lives}
    begin, end = lives[guest.pid].bounds
    assert recording.begin < begin < end < recording.end
    whole = lives[held]
    assert whole.bounds == (recording.begin, recording.end)
    assert whole.seconds("held_back") > 0.5 * recording.seconds
    # The other's memory is free again.
    (gpu,) = recording.gpus
    levels = sorted(recording.levels[gpu.uuid], key=lambda level: level.at)
    assert max(level.on_gpu for level in levels) > 2 * GIB > levels[-1].on_gpu > GIB
