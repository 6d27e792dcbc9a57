"""The control API and the verbs that use it."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nvshare.cli.main import cli
from nvshare.errors import BadInputError
from nvshare.launch.private import private_folder
from nvshare.users import user_name
from nvshare.wire import frames

from .conftest import Daemon

GIB = 1 << 30


def nvshare(daemon: Daemon, *arguments: str) -> Result:
    """Run a verb in this process: starting another one would take most of the time."""
    runner = CliRunner(env={"NVSHARE_SOCKET_DIR": str(daemon.folder), "COLUMNS": "200"})
    return runner.invoke(cli, arguments, prog_name="nvshare", catch_exceptions=False)


def test_every_setting_can_be_read_back(daemon: Daemon) -> None:
    wanted: dict[str, Any] = {
        "mode": "serial",
        "policy": "fifo",
        "interactive": "prompt",
        "turn_seconds": 12.5,
        "idle_park": 600.0,
        "wait_notice": 2.0,
        "revoke_patience": 5.0,
        "reserve": 1 * GIB,
        "allocation": "auto",
        "oversubscribe": True,
        "swap_excess": True,
        "gangs": False,
        "lab": {
            "batch_turn": 600.0,
            "turn_min": 1.0,
            "turn_max": 60.0,
            "slice_seconds": 0.5,
            "share_slice_seconds": 0.1,
            "idle_grace": 0.1,
            "inflight": 0.01,
            "context": 0,
        },
    }
    before = daemon.control.status().devices[0]
    assert set(wanted) == set(before.settings.model_dump())
    (changed,) = daemon.control.change_devices("0", wanted)
    assert changed.settings.model_dump() == wanted
    first, second = daemon.control.status().devices
    assert first.settings.model_dump() == wanted
    assert first.usable == first.memory - GIB
    assert second.settings == before.settings


def test_the_settings_of_the_node_can_be_read_back(daemon: Daemon) -> None:
    # On an emulated node: four fifths of an emulated host of 256 GiB.
    status = daemon.control.status()
    assert status.settings.host_memory == "auto"
    assert status.host.limit == 256 * GIB * 8 // 10
    assert daemon.control.change_node({"host_memory": "3Gi"}).host_memory == 3 * GIB
    status = daemon.control.status()
    assert (status.settings.host_memory, status.host.limit) == (3 * GIB, 3 * GIB)
    with pytest.raises(BadInputError, match="host_memory: "):
        daemon.control.change_node({"host_memory": "3GB"})
    shown = nvshare(daemon, "set").stdout
    assert f"node: host_memory={3 * GIB}\n" in shown
    changed = json.loads(nvshare(daemon, "set", "host-memory=auto", "turn=9", "--json").stdout)
    assert changed["settings"] == {"host_memory": "auto"}
    assert changed["devices"][1]["settings"]["turn_seconds"] == 9
    assert daemon.control.status().host.limit == 256 * GIB * 8 // 10


def test_memory_that_could_never_be_used_is_refused_and_the_log_says_so(daemon: Daemon) -> None:
    daemon.control.change_node({"host_memory": "3Gi"})
    client = daemon.connect()
    client.join(daemon.gpus[0], allocated=1 * GIB)
    client.expect(frames.Grant)
    client.send(frames.Memory(20 * GIB, 0, 0, ticket=1))
    answer = client.expect(frames.Answer)
    assert (answer.ticket, answer.verdict) == (1, frames.Verdict.HOST_FULL)
    # It sends the old state again, as it has to, and is in no other program's way.
    client.send(frames.Memory(1 * GIB, 0, 0, ticket=2))
    assert client.expect(frames.Answer).verdict is frames.Verdict.YES
    status = daemon.control.status()
    assert [client.allocated for client in status.clients] == [1 * GIB]
    assert status.host.kept == 0
    # Its request counts only up to the size of the GPU.
    while "was refused 13.6 GiB" not in daemon.log:
        time.sleep(0.05)  # a thread of its own writes the log
    line = next(line for line in daemon.log.splitlines() if "was refused 13.6 GiB" in line)
    assert "host_memory" in line
    assert f"pid={os.getpid()}" in line


def test_a_wrong_setting_changes_nothing(daemon: Daemon) -> None:
    before = daemon.control.status().devices
    with pytest.raises(BadInputError, match="mode: must be"):
        daemon.control.change_devices("all", {"turn_seconds": 5, "mode": "sideways"})
    with pytest.raises(BadInputError, match="lab: turn_max must not be less than turn_min"):
        daemon.control.change_devices("all", {"lab": {"turn_max": 1}})
    with pytest.raises(BadInputError, match="turn_max is not a setting any more: turns of"):
        daemon.control.change_devices("all", {"turn_max": 60})
    with pytest.raises(BadInputError, match='there is no GPU "7"'):
        daemon.control.change_devices("7", {"mode": "serial"})
    assert [one.settings for one in daemon.control.status().devices] == [
        one.settings for one in before
    ]


def test_limits_reach_the_client_and_can_be_lifted(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    pid = str(os.getpid())
    shown = daemon.control.change_limits(pid, {"memory_limit": "4Gi", "compute_percent": 40})
    assert shown.limits.memory_limit == 4 * GIB
    limits = client.expect(frames.Limits)
    assert (limits.memory_limit, limits.share_ppm) == (4 * GIB, 400_000)
    daemon.control.change_limits("1", {"memory_limit": None})
    limits = client.expect(frames.Limits)
    assert (limits.memory_limit, limits.share_ppm) == (0, 400_000)


def test_limits_are_those_of_a_group_and_who_changes_them_is_logged(daemon: Daemon) -> None:
    token = bytes(range(16))
    one, two, other = daemon.connect(), daemon.connect(), daemon.connect()
    one.join(daemon.gpus[0], group=token, memory_limit=6 * GIB)
    two.join(daemon.gpus[1], group=token)
    other.join(daemon.gpus[0])
    # The limits that one was started with hold for the other, on its GPU.
    assert two.expect(frames.Limits).memory_limit == 6 * GIB
    alone, together = sorted(daemon.control.groups(), key=lambda group: len(group.uses))
    assert together.limits.memory_limit == 6 * GIB
    assert together.sources == {"memory_limit": "environment"}
    assert [use.device for use in together.uses] == daemon.gpus
    assert alone.limits.memory_limit is None

    shown = nvshare(daemon, "limit", "2", "--memory", "4Gi", "--compute", "50", "--no-burst")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.count("0.0 of 4.0 GiB") == 2
    (line,) = [line for line in daemon.log.splitlines() if "limits changed" in line]
    for word in (f"(uid {os.getuid()})", "before=memory=6Gi", "now=memory=4Gi,compute=50%"):
        assert word in line.replace('"', "")
    assert f"run-{os.getuid()}-{token.hex()}" in line
    # The same again is no change.
    daemon.control.change_limits("1", {"memory_limit": 4 * GIB})
    assert daemon.log.count("limits changed") == 1
    # Lifting a limit overrides the environment.
    assert " of " not in nvshare(daemon, "limit", "1", "--memory", "none").stdout
    assert daemon.control.group("2").limits.memory_limit is None
    listed = nvshare(daemon, "limit", "--json").stdout.splitlines()
    assert {json.loads(row)["key"] for row in listed} == {together.key, alone.key}


def test_a_limit_that_cannot_be_stored_holds_and_is_said_to_be_lost(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    groups = private_folder(daemon.folder, {}) / "groups"
    (groups / "limits.new").symlink_to("/dev/full")
    said = nvshare(daemon, "limit", "1", "--memory", "4Gi")
    assert said.exit_code == 0
    assert "are in force, but could not be stored (No space left on device)" in said.stderr
    assert "lost when the daemon restarts" in said.stderr
    assert client.expect(frames.Limits).memory_limit == 4 * GIB
    (group,) = daemon.control.groups()
    assert (group.limits.memory_limit, group.unstored) == (4 * GIB, "No space left on device")
    # There is room again.
    assert not nvshare(daemon, "limit", "1", "--memory", "4Gi").stderr
    assert json.loads((groups / "limits.json").read_text())[group.key] == {"memory_limit": 4 * GIB}


def test_a_group_that_uses_more_than_its_limit_is_marked(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    os.pwrite(client.page, (3 * GIB).to_bytes(8, "little"), 192 + 8)
    changed = daemon.control.change_limits("1", {"memory_limit": "2Gi"})
    (use,) = changed.uses
    assert (use.used, use.over_limit) == (3 * GIB, True)
    assert "over its limit" in nvshare(daemon, "status").stdout
    assert "over its limit" in nvshare(daemon, "limit").stdout
    (use,) = daemon.control.change_limits("1", {"memory_limit": "3Gi"}).uses
    assert not use.over_limit


def test_usage_is_shown(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    client.expect(frames.Grant)
    client.send(frames.Usage(busy_ns=3 * 10**9, launches=17, throttled_ns=10**9, gpu_ns=0))
    # An answer proves that the earlier frames have been read.
    client.release(1)
    client.expect(frames.Grant)
    (shown,) = daemon.control.status().clients
    assert (shown.busy_seconds, shown.launches, shown.throttled_seconds) == (3.0, 17, 1.0)
    assert shown.turns == 2


def test_the_verbs(daemon: Daemon, tmp_path: Path) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[1], allocated=GIB)

    status = nvshare(daemon, "status")
    assert status.exit_code == 0
    assert "Tesla T4" in status.stdout
    assert str(os.getpid()) in status.stdout

    shown = json.loads(nvshare(daemon, "status", "--json").stdout)
    assert [gpu["index"] for gpu in shown["devices"]] == [0, 1]
    assert shown["clients"][0]["allocated"] == GIB

    row = nvshare(daemon, "ls").stdout.split("\t")
    assert row[:6] == ["1", str(os.getpid()), user_name(os.getuid()), "1", "running", "1Gi"]
    assert json.loads(nvshare(daemon, "ls", "--json").stdout)["id"] == 1

    changed = nvshare(daemon, "set", "--gpu", "1", "turn=30", "mode=serial")
    assert "gpu 1: mode=serial\n" in changed.stdout
    assert "gpu 1: turn_seconds=30\n" in changed.stdout
    limited = nvshare(daemon, "limit", "1", "--memory", "2Gi", "--json")
    assert json.loads(limited.stdout)["limits"]["memory_limit"] == 2 * GIB

    journal = tmp_path / "journal"
    journal.write_text(nvshare(daemon, "status", "--journal").stdout)
    replayed = nvshare(daemon, "replay", "--check", str(journal))
    assert replayed.exit_code == 0, replayed.stdout + replayed.stderr
    assert "0 decided differently" in replayed.stdout


def test_a_limit_above_the_gpu_is_said(daemon: Daemon) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[1])
    said = nvshare(daemon, "limit", "1", "--memory", "40Gi")
    assert said.exit_code == 0
    assert "a limit of 40Gi is more than the memory of GPU 1 (14." in said.stderr
    assert not nvshare(daemon, "limit", "1", "--memory", "14Gi").stderr
    assert not nvshare(daemon, "limit", "1", "--memory", "none").stderr


def test_mistakes_are_explained(daemon: Daemon) -> None:
    for arguments, said in [
        (["set", "mode=sideways"], "mode: must be"),
        (["set", "colour=red"], '"colour=red" cannot be set'),
        (["set", "turn=7", "host_memory=4GB"], '"4GB" is not an amount of memory'),
        # The suggested correction.
        (["set", "reserve=4gb"], '"4G" does'),
        (["limit", "9", "--memory", "4 Gi"], "no program"),
        (["set", "--gpu", "0", "host_memory=4Gi"], "cannot be set"),
        (["set", "mode"], 'a change is written "name=value"'),
        (["limit", "1", "--memory", "4Gi"], 'no program is called "1"'),
        (["limit", "--memory", "4Gi"], "no program was named"),
        (["limit", "1", "--priority", "urgent"], "is not one of"),
    ]:
        done = nvshare(daemon, *arguments)
        assert done.exit_code == 2
        assert said in done.stderr
    assert daemon.control.status().devices[0].settings.turn_seconds == "auto"


def test_without_a_daemon(daemon: Daemon) -> None:
    daemon.stop()
    done = nvshare(daemon, "status")
    assert done.exit_code == 1
    assert "no daemon is running" in done.stderr
