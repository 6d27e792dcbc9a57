"""Memory limits of pods: no program has to move out more than its cgroup can hold."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tools.manifests import render

from .cluster.leftovers import hierarchies
from .cluster.node import Cluster
from .conftest import EMULATED
from .lab import RESOURCE, Lab
from .test_workloads import add, result
from .watcher import watching

GIB = 1 << 30
# The limits on a process that the daemon can read from its container.
_LIMITS = """
import json, os, sys
from pathlib import Path
from nvshare.daemon.host.cgroup import MemoryGroups
from nvshare.daemon.host.hierarchy import MemoryHierarchy
groups = MemoryGroups(MemoryHierarchy(folder=Path(os.environ["NVSHARE_CGROUP_DIR"])))
pid = int(sys.argv[1])
print(json.dumps([[one.name, one.limit] for one in groups([pid])[pid]]))
"""
# The charges of the innermost cgroup of a program, and of that of the daemon.
_CHARGES = """
import json, os, sys
from pathlib import Path
from nvshare.daemon.host.cgroup import MemoryGroups
from nvshare.daemon.host.hierarchy import MemoryHierarchy
groups = MemoryGroups(MemoryHierarchy(folder=Path(os.environ["NVSHARE_CGROUP_DIR"])))
found = groups([int(sys.argv[1]), os.getpid()])
print(json.dumps([found[pid][0].used for pid in (int(sys.argv[1]), os.getpid())]))
"""
_FOLDER = "/run/nvshare-cgroup"


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Lab:
    """A cluster with one GPU, so that two pods have to share it."""
    return install(cluster)


def install(cluster: Cluster, **values: str) -> Lab:
    lab = Lab(cluster)
    lab.apply(render({**EMULATED, "emulated.gpus": "1xt4", **values}))
    lab.until_installed(gpus=10)
    return lab


def limits(lab: Lab, pod: str) -> list[tuple[str, int]]:
    """Return the limits that the daemon can see on the program of a pod, from the inside out."""
    pid = str(lab.until_client(pod).pid)
    answer = json.loads(lab.in_daemon("python", "-c", _LIMITS, pid))
    return [(name, limit) for name, limit in answer]


def messages(lab: Lab, pod: str, reason: str) -> list[str]:
    events = [one for one in lab.events(pod) if one["reason"] == reason]
    assert all(one["type"] == "Warning" for one in events)
    return [str(one["message"]) for one in events]


def end(lab: Lab, pod: str) -> Any:
    (status,) = lab.get("pod", pod)["status"]["containerStatuses"]
    ended = status["state"]["terminated"]
    return ended["exitCode"], ended["reason"], status["restartCount"]


def test_a_pod_that_cannot_hold_what_would_leave_is_not_killed(lab: Lab) -> None:
    lab.in_daemon("nvshare", "set", "turn=1")
    lab.start_pod("tight", *add("pytorch-add", 12000), limits={"memory": "1Gi"})
    lab.until_client("tight", lambda one: one.allocated > 11 * GIB)
    lab.start_pod("beside", *add("pytorch-add", 5000))
    lab.until_client("beside", lambda one: one.held_up)
    tight = lab.until_client("tight")
    assert tight.stuck > 10 * GIB
    assert "its memory cgroup's limit of 1.0 GiB has" in tight.stuck_because
    # Without line breaks.
    said = " ".join(lab.in_daemon("nvshare", "status").split())
    assert f"GiB cannot leave the GPU: {tight.stuck_because}" in said
    assert "of other programs that cannot leave the GPU" in said

    assert result(lab, "tight")["iterations"] == 12000
    assert result(lab, "beside")["iterations"] == 5000
    assert [end(lab, pod) for pod in ("tight", "beside")] == [(0, "Completed", 0)] * 2
    (why,) = messages(lab, "tight", "GpuMemoryCannotLeave")
    assert "of its memory cannot leave the GPU, and other programs wait for that" in why
    assert "its memory cgroup's limit of 1.0 GiB has" in why
    (waits,) = messages(lab, "beside", "WaitsForGpuMemory")
    assert "has to wait: beside its" in waits
    assert "of other programs that cannot leave the GPU" in waits
    lab.in_daemon("nvshare", "set", "turn=auto")


def test_a_limit_that_is_large_enough_lets_memory_leave(lab: Lab) -> None:
    lab.in_daemon("nvshare", "set", "turn=1")
    with watching(lab, "one.moved_out > 8 << 30", "roomy", "beside"):
        # A pod's request equals its limit, and a test machine has this much memory once.
        lab.start_pod("roomy", *add("pytorch-add", 5000), limits={"memory": "14Gi"})
        lab.start_pod("beside", *add("pytorch-add", 5000))
        for name in ("roomy", "beside"):
            assert result(lab, name)["iterations"] == 5000
    for name in ("roomy", "beside"):
        assert end(lab, name) == (0, "Completed", 0)
        assert messages(lab, name, "GpuMemoryCannotLeave") == []
    lab.in_daemon("nvshare", "set", "turn=auto")


def container_status(lab: Lab, pod: str) -> Any:
    (status,) = lab.get("pod", pod)["status"]["containerStatuses"]
    return status


def test_the_daemon_sees_the_limits_of_all_that_a_pod_lies_in(lab: Lab) -> None:
    lab.start_pod("tight", "watch-limit", limits={"memory": "300Mi"})
    lab.start_pod("free", "watch-limit")
    pod = lab.get("pod", "tight")
    container, of_pod, of_node = limits(lab, "tight")
    # Kubelet reports it some time after it has started the container.
    deadline = time.monotonic() + 60
    while "containerID" not in (status := container_status(lab, "tight")):
        assert time.monotonic() < deadline, status
        time.sleep(0.2)
    assert container[0].endswith(status["containerID"].partition("://")[2])
    assert of_pod[0] == str(Path(container[0]).parent)
    assert of_pod[0].endswith(f"pod{pod['metadata']['uid']}")
    assert (container[1], of_pod[1]) == (300 << 20, 300 << 20)
    # The limit of kubelet for all pods together.
    assert Path(of_node[0]).name == "kubepods"
    assert of_node[1] > GIB
    assert limits(lab, "free") == [of_node]


def test_one_hierarchy_alone_is_enough_and_cannot_be_written_to(cluster: Cluster) -> None:
    (folder,) = [one for one in hierarchies() if one.name in ("cgroup", "memory")]
    lab = install(cluster, cgroupFolder=str(folder))
    lab.start_pod("tight", "watch-limit", limits={"memory": "300Mi"})
    assert [limit for _, limit in limits(lab, "tight")][:2] == [300 << 20] * 2
    name, _ = limits(lab, "tight")[0]
    assert name.startswith(f"{_FOLDER}/")
    done = lab.cluster.run_kubectl(
        *("exec", "-n", "nvshare", lab.system_pod()["metadata"]["name"], "-c", "daemon", "--"),
        *("sh", "-c", 'echo 1 > "$0/cgroup.procs"', name),
    )
    assert "Read-only file system" in done.stderr
    lab.delete_pods()


def test_a_daemon_that_sees_no_cgroups_of_the_node_says_so_once(cluster: Cluster) -> None:
    lab = install(cluster, cgroupFolder="")
    for name in ("one", "other"):
        lab.start_pod(name, "watch-limit", limits={"memory": "300Mi"})
        lab.until_client(name)
    said = lab.kubectl("logs", "-n", "nvshare", "daemonset/nvshare", "-c", "daemon")
    assert said.count("the memory limits of some programs are not known") == 1
    assert "outside of the cgroups that are mounted here" in said
    lab.delete_pods()


def test_a_pod_needs_no_memory_for_what_moves_explicitly(cluster: Cluster) -> None:
    lab = install(cluster, hostMemory="10Gi", **{"emulated.realHost": "true"})
    lab.in_daemon("nvshare", "set", "turn=1", "allocation=explicit")
    real = {"name": "NVSHARE_EMULATOR_REAL_HOST", "value": "1"}
    # 12 GB, and two of 3 GB: about 3 GiB of each are on the host when another has its turn.
    with watching(lab, "one.moved_out > 6 << 30", "modest"):
        start_real(lab, "modest", real, add("pytorch-add", 12000), memory="1Gi")
        others = ["first", "second"]
        for name in others:
            start_real(lab, name, real, add("pytorch-add-small", 60000), memory="512Mi")
    client = lab.until_client("modest")
    assert client.allocation == "explicit"
    assert client.kept > 2 * GIB

    def charged() -> list[int]:
        found: list[int] = json.loads(lab.in_daemon("python", "-c", _CHARGES, str(client.pid)))
        return found

    # Memory promised to the program counts as kept at once, but takes a while to be allocated.
    lab.until(lambda: charged()[1] > client.kept, "the daemon pays")
    assert charged()[0] < GIB // 2
    for name in ("modest", *others):
        result(lab, name)
        assert end(lab, name) == (0, "Completed", 0)
        assert messages(lab, name, "GpuMemoryCannotLeave") == []
    lab.delete_pods()


def start_real(
    lab: Lab, name: str, variable: dict[str, str], command: tuple[str, ...], memory: str
) -> None:
    """Start a pod whose driver really locks pages of the host."""
    container: dict[str, Any] = {
        "name": "main",
        "image": "workload:1",
        "imagePullPolicy": "Never",
        "command": list(command),
        "env": [variable],
        "resources": {"limits": {RESOURCE: "1", "memory": memory}},
    }
    lab.create_pod(name, [container])
