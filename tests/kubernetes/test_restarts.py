"""Kubelet, plugin and daemon restart; pods run on, and nothing is forgotten."""

import pytest

from nvshare.settings import ClientLimits

from .lab import Lab

GIB = 1 << 30
MEMORY = "nvshare.com/gpu-memory-limit"


def start_pods(lab: Lab) -> None:
    """Three programs: two on one GPU, one on the other."""
    for number in range(3):
        lab.start_pod(f"pod-{number}", "watch-limit", annotations={MEMORY: f"{number + 1}Gi"})
    for number in range(3):
        lab.until_client(f"pod-{number}")


def check_pods(lab: Lab) -> None:
    """The same programs run, limits hold, and a fourth goes to the GPU with one program."""
    for number in range(3):
        client = lab.until_client(f"pod-{number}")
        assert client.limits == ClientLimits(memory_limit=(number + 1) * GIB)
        (container,) = lab.get("pod", f"pod-{number}")["status"]["containerStatuses"]
        assert container["restartCount"] == 0
        # A program may have reported that the daemon was away, and still has its limit.
        lines = lab.logs(f"pod-{number}").splitlines()
        sizes = [line.split()[1] for line in lines if line[0].isdigit()]
        assert sizes[-1] == str((number + 1) * GIB)
    lab.start_pod("pod-3", "watch-limit")
    lab.until_client("pod-3")
    devices = sorted(one.device for one in lab.status().clients)
    assert devices[0] == devices[1] != devices[2] == devices[3]


def kill(lab: Lab, container: str) -> None:
    """Kill a container of nvshare, and wait until it is there again."""
    before = lab.container(container)["restartCount"]
    lab.kill_container(container)
    lab.until(
        lambda: (
            lab.container(container)["restartCount"] > before and lab.container(container)["ready"]
        ),
        f"{container} again",
    )


def test_kubelet(lab: Lab) -> None:
    start_pods(lab)
    lab.cluster.process("kubelet").stop()
    lab.cluster.process("kubelet").start()
    lab.until_installed(gpus=20)
    check_pods(lab)


@pytest.mark.parametrize("container", ["device-plugin", "daemon"])
def test_a_part_of_nvshare(lab: Lab, container: str) -> None:
    start_pods(lab)
    kill(lab, container)
    lab.until_installed(gpus=20)
    check_pods(lab)


def test_all_of_nvshare(lab: Lab) -> None:
    start_pods(lab)
    lab.kubectl("delete", "pod", "-n", "nvshare", lab.system_pod()["metadata"]["name"])
    lab.until_installed(gpus=20)
    check_pods(lab)


def test_a_limit_that_changed_while_the_daemon_was_away(lab: Lab) -> None:
    start_pods(lab)
    lab.kill_container("daemon")
    lab.kubectl("annotate", "pod", "pod-0", "--overwrite", f"{MEMORY}=5Gi")
    lab.until_client("pod-0", lambda one: one.limits.memory_limit == 5 * GIB)
