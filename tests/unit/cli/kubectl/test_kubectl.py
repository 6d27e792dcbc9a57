"""kubectl nvshare, with a kubectl that answers from files and notes its arguments."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nvshare.cli.kubectl.main import cli
from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus, HostStatus, NodeStatus

GIB = 1 << 30
KUBECTL = """\
#!/bin/sh
printf '%s\\n' "$*" >>{folder}/asked
case "$*" in
    *"get pods"*) cat {folder}/pods.json ;;
    *exec*broken*) echo "container is not running" >&2; exit 1 ;;
    *exec*) cat {folder}/status.json ;;
    *annotate*) echo "pod/trainer annotated" ;;
esac
"""


def pod(node: str, name: str) -> dict[str, Any]:
    return {"metadata": {"namespace": "nvshare", "name": name}, "spec": {"nodeName": node}}


def node_status() -> NodeStatus:
    gpu = DeviceStatus(
        index=1, uuid="GPU-a", name="Tesla T4", memory=16 * GIB, usable=15 * GIB, allocated=3 * GIB,
        settings=DeviceSettings(), clients=2, running=1, waiting=0, turn_changes=0,
        slices=0, handovers=0, turn_seconds=0.0,
        turn_ends_in=None, bandwidth=1e9,
    )  # fmt: skip
    one: dict[str, Any] = {
        "id": 1, "device": "GPU-a", "pid": 7, "uid": 0, "program": "train.py", "pod": "u",
        "container": "c", "pod_name": "team/small", "container_name": "main", "group": "",
        "library_version": "1", "allocation": "managed", "state": "running", "state_seconds": 1.0,
        "connected_seconds": 1.0, "overdue": False, "allocated": 1 * GIB, "pinned": 0,
        "swapped_out": 0, "limits": ClientLimits(memory_limit=4 * GIB), "turns": 1,
        "running_seconds": 1.0, "waited_seconds": 0.0, "longest_wait_seconds": 0.0, "moved_out": 0,
        "moved_in": 0, "moving_seconds": 0.0, "busy_seconds": 61.0, "launches": 1,
        "throttled_seconds": 0.0,
    }  # fmt: skip
    clients = (
        ClientStatus(**one),
        ClientStatus(**{**one, "id": 2, "pod_name": "team/large", "allocated": 2 * GIB}),
    )
    return NodeStatus(
        version="1",
        pid=1,
        uptime_seconds=1.0,
        settings=NodeSettings(),
        host=HostStatus(limit=64 * GIB, kept=0, swapped_out=0),
        devices=(gpu,),
        clients=clients,
    )


class Kubectl:
    """The kubectl in PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "kubectl"
        program.write_text(KUBECTL.format(folder=folder))
        program.chmod(0o755)
        (folder / "status.json").write_text(node_status().model_dump_json())
        self.set_pods(pod("worker-1", "nvshare-x"))

    def set_pods(self, *pods: dict[str, Any]) -> None:
        (self.folder / "pods.json").write_text(json.dumps({"items": list(pods)}))

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()

    def call(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, env={"COLUMNS": "200"})


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Kubectl(tmp_path)


def test_status_of_all_nodes(kubectl: Kubectl) -> None:
    kubectl.set_pods(pod("worker-2", "broken"), pod("worker-1", "nvshare-x"))
    text = kubectl.call("status").output
    assert text.index("node worker-1") < text.index("team/large") < text.index("node worker-2")
    assert "container is not running" in text


def test_status_of_one_node_as_json(kubectl: Kubectl) -> None:
    kubectl.set_pods(pod("worker-1", "a"), pod("worker-2", "b"))
    (line,) = kubectl.call("--context=lab", "status", "worker-2", "--json").output.splitlines()
    shown = json.loads(line)
    assert (shown["node"], shown["problem"]) == ("worker-2", None)
    assert NodeStatus.model_validate(shown["status"]) == node_status()
    assert all(one.startswith("--context=lab ") for one in kubectl.asked)


def test_nvshare_is_not_there(kubectl: Kubectl) -> None:
    kubectl.set_pods()
    result = kubectl.call("status")
    assert result.exit_code == 1
    assert "nvshare runs on no node" in result.stderr


def test_top_as_json(kubectl: Kubectl) -> None:
    first, second = map(json.loads, kubectl.call("top", "--json").output.splitlines()[:2])
    assert (first["pod_name"], first["index"], first["node"]) == ("team/large", 1, "worker-1")
    assert (first["id"], second["id"]) == (2, 1)


def test_top_has_the_largest_first(kubectl: Kubectl) -> None:
    text = kubectl.call("top").output
    assert text.index("team/large") < text.index("team/small")
    assert "1 min" in text
    assert "4.0 GiB" in text


def test_limits_become_annotations(kubectl: Kubectl) -> None:
    result = kubectl.call("limit", "trainer", "-n", "team", "memory=4Gi", "compute=none")
    assert result.output == "pod/trainer annotated\n"
    assert kubectl.asked == [
        (
            "annotate pod trainer --overwrite -n team "
            "nvshare.com/gpu-memory-limit=4Gi nvshare.com/gpu-core-limit-"
        )
    ]


def test_the_limit_of_one_container(kubectl: Kubectl) -> None:
    kubectl.call("limit", "trainer", "-c", "side", "priority=high")
    assert kubectl.asked == ["annotate pod trainer --overwrite nvshare.com/gpu-priority.side=high"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("memory=4GB", "is not an amount of memory"),
        ("memory=0", "nothing to allocate"),
        ("compute=200", "less than or equal to 100"),
        ("speed=3", "the names are memory, compute, priority"),
        ("memory", 'a change is written "name=value"'),
    ],
)
def test_a_bad_limit_is_not_written(kubectl: Kubectl, change: str, why: str) -> None:
    result = kubectl.call("limit", "trainer", change)
    assert result.exit_code == 2
    assert why in result.stderr
    assert not (kubectl.folder / "asked").exists()


def test_no_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(cli, ["top"])
    assert result.exit_code == 1
    assert "kubectl cannot be found" in result.stderr
