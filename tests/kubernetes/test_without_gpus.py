"""A node without GPUs: nothing is offered, nothing fails, and nothing is said twice."""

import time

import pytest

from tools.manifests import render

from .cluster.node import Cluster
from .lab import Lab

PULL = {"image.pullPolicy": "Never"}


@pytest.fixture(scope="module")
def lab(cluster: Cluster) -> Lab:
    return Lab(cluster)


def test_a_node_without_a_gpus_label_gets_no_pod(lab: Lab) -> None:
    lab.apply(render(PULL))
    lab.until(
        lambda: (
            lab.get("daemonset", "nvshare", "-n", "nvshare")["status"].get("desiredNumberScheduled")
            == 0
        ),
        "no pod",
    )


def test_where_it_runs_all_the_same_it_is_quiet_and_healthy(lab: Lab) -> None:
    anywhere = '--set-json=affinity={"podAffinity":{}}'
    lab.apply(render(PULL, anywhere))
    lab.until_installed(gpus=0)
    # Long enough for the first probes, and to look for GPUs a second time.
    time.sleep(35)
    statuses = lab.system_pod()["status"]["containerStatuses"]
    assert {one["name"]: (one["ready"], one["restartCount"]) for one in statuses} == {
        "daemon": (True, 0),
        "device-plugin": (True, 0),
    }
    name = lab.system_pod()["metadata"]["name"]
    log = lab.kubectl("logs", "-n", "nvshare", name, "--all-containers")
    assert log.count("there is no GPU on this machine yet") == 1
    assert "warn" not in log
    assert "error" not in log
    assert lab.status().devices == ()
