"""GPUs as real ones get into containers, by the variable that the NVIDIA container runtime reads.

There is no such runtime here, and none that knows CDI: this is the way from the plugin through
kubelet into a container.
"""

import json

import pytest
import yaml

from tools.manifests import render

from .cluster.node import Cluster
from .conftest import EMULATED
from .lab import Lab

SLEEP = ("sleep", "infinity")
VISIBLE = "NVIDIA_VISIBLE_DEVICES"


def with_real_containers(text: str) -> str:
    """Have the plugin take the emulated GPUs for real ones when it fills a container."""
    things = [one for one in yaml.safe_load_all(text) if one]
    (daemonset,) = [one for one in things if one["kind"] == "DaemonSet"]
    containers = daemonset["spec"]["template"]["spec"]["containers"]
    (plugin,) = [one for one in containers if one["name"] == "device-plugin"]
    plugin["args"] = [word for word in plugin["args"] if not word.startswith("--emulated")]
    return "\n---\n".join(json.dumps(one) for one in things)


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Lab:
    lab = Lab(cluster)
    lab.apply(with_real_containers(render(EMULATED)))
    lab.until_installed(gpus=20)
    return lab


def visible(lab: Lab, pod: str) -> list[str]:
    lab.until_phase(pod, "Running")
    variables = lab.kubectl("exec", pod, "--", "env").splitlines()
    # Everything else is hidden by the runtime, and so nothing has to be hidden from programs.
    assert not [line for line in variables if line.startswith(("CUDA_", "NVSHARE_EMULATOR_"))]
    (value,) = [line.partition("=")[2] for line in variables if line.startswith(f"{VISIBLE}=")]
    return value.split(",")


def test_a_container_is_told_the_gpus_that_it_may_see(lab: Lab) -> None:
    known = {gpu.uuid for gpu in lab.status().devices}
    lab.start_pod("one", *SLEEP)
    lab.start_pod("other", *SLEEP)
    lab.start_pod("both", *SLEEP, gpus=2)
    alone = [visible(lab, "one"), visible(lab, "other")]
    assert {uuid for uuids in alone for uuid in uuids} == known
    assert [len(uuids) for uuids in alone] == [1, 1]
    assert sorted(visible(lab, "both")) == sorted(known)
