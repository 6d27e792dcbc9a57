"""GPUs as real ones get into containers: from the plugin through kubelet.

What the NVIDIA container runtime would do with the variable is its own business. The containerd of
these tests is too old for CDI, and ignores it: what is seen is how far kubelet passes it on.
"""

import base64
import json
from pathlib import Path

import pytest
import yaml

from nvshare.kubernetes.api.deviceplugin_pb2 import ContainerAllocateResponse
from tools.manifests import render

from .cluster.node import Cluster
from .conftest import EMULATED
from .lab import Lab

SLEEP = ("sleep", "infinity")
# What kubelet keeps for the case that it starts again.
CHECKPOINT = Path("/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint")


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Lab:
    """A cluster that each of these tests installs nvshare on in its own way."""
    return Lab(cluster)


def install(lab: Lab, **values: str) -> None:
    """Have the plugin take the emulated GPUs for real ones when it fills a container."""
    things = [one for one in yaml.safe_load_all(render({**EMULATED, **values})) if one]
    (daemonset,) = [one for one in things if one["kind"] == "DaemonSet"]
    containers = daemonset["spec"]["template"]["spec"]["containers"]
    (plugin,) = [one for one in containers if one["name"] == "device-plugin"]
    plugin["args"] = [word for word in plugin["args"] if not word.startswith("--emulated")]
    lab.apply("\n---\n".join(json.dumps(one) for one in things))
    lab.until_installed(gpus=20)


def variables(lab: Lab, pod: str) -> dict[str, str]:
    lab.until_phase(pod, "Running")
    lines = lab.kubectl("exec", pod, "--", "env").splitlines()
    return dict(line.split("=", 1) for line in lines)


def visible(lab: Lab, pod: str) -> list[str]:
    found = variables(lab, pod)
    # Everything else is hidden by the runtime, and so nothing has to be hidden from programs.
    assert not [name for name in found if name.startswith(("CUDA_", "NVSHARE_EMULATOR_"))]
    return found["NVIDIA_VISIBLE_DEVICES"].split(",")


def allocated(lab: Lab, pod: str) -> ContainerAllocateResponse:
    """Return what kubelet has heard from the plugin for a pod."""
    uid = lab.get("pod", pod)["metadata"]["uid"]
    entries = json.loads(CHECKPOINT.read_text())["Data"]["PodDeviceEntries"]
    (entry,) = [one for one in entries if one["PodUID"] == uid]
    return ContainerAllocateResponse.FromString(base64.b64decode(entry["AllocResp"]))


def test_a_container_is_told_the_gpus_that_it_may_see(lab: Lab) -> None:
    install(lab)
    known = {gpu.uuid for gpu in lab.status().devices}
    lab.start_pod("one", *SLEEP)
    lab.start_pod("other", *SLEEP)
    lab.start_pod("both", *SLEEP, gpus=2)
    alone = [visible(lab, "one"), visible(lab, "other")]
    assert {uuid for uuids in alone for uuid in uuids} == known
    assert [len(uuids) for uuids in alone] == [1, 1]
    assert sorted(visible(lab, "both")) == sorted(known)


def test_kubelet_is_told_the_devices_of_cdi(lab: Lab) -> None:
    install(lab, devices="cdi")
    known = {gpu.uuid for gpu in lab.status().devices}
    lab.start_pod("both", *SLEEP, gpus=2)
    assert "NVIDIA_VISIBLE_DEVICES" not in variables(lab, "both")
    names = {device.name for device in allocated(lab, "both").cdi_devices}
    assert names == {f"nvidia.com/gpu={uuid}" for uuid in known}
