"""GPUs get into containers as real ones do: from the plugin through kubelet and containerd.

How the NVIDIA container runtime would treat the variable is not tested.
"""

import base64
import json
from pathlib import Path

import pytest
import yaml

from nvshare.kubernetes.api.deviceplugin_pb2 import ContainerAllocateResponse
from tools.manifests import render

from .cluster.node import CDI, Cluster, knows_cdi
from .conftest import EMULATED
from .lab import Lab

SLEEP = ("sleep", "infinity")
# The file that kubelet keeps for a restart.
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
    """Return the plugin's answer to kubelet for a pod."""
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


def describe_devices(uuids: list[str]) -> None:
    """Describe GPUs as a vendor does: the changes to a container that has them."""
    CDI.mkdir(exist_ok=True)
    devices = []
    for index, uuid in enumerate(uuids):
        driver = CDI / f"driver-{index}"
        driver.write_text(uuid)
        mount = {
            "hostPath": str(driver),
            "containerPath": f"/driver-{index}",
            "options": ["ro", "bind"],
        }
        edits = {"env": [f"CDI_GPU_{index}={uuid}"], "mounts": [mount]}
        devices.append({"name": uuid, "containerEdits": edits})
    spec = {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": devices}
    (CDI / "nvidia.json").write_text(json.dumps(spec))


def of_cdi(lab: Lab, pod: str) -> set[str]:
    """Return the GPUs whose descriptions were carried out for a pod."""
    found = variables(lab, pod)
    assert "NVIDIA_VISIBLE_DEVICES" not in found
    given = {name: uuid for name, uuid in found.items() if name.startswith("CDI_GPU_")}
    for name, uuid in given.items():
        assert lab.kubectl("exec", pod, "--", "cat", f"/driver-{name[-1]}") == uuid
    return set(given.values())


def test_a_container_gets_what_cdi_says_of_its_gpus(lab: Lab) -> None:
    install(lab, devices="cdi")
    known = [gpu.uuid for gpu in lab.status().devices]
    describe_devices(known)
    for name, gpus in (("one", 1), ("both", 2)):
        lab.start_pod(name, *SLEEP, gpus=gpus)
        got = of_cdi(lab, name)
        devices = [device.name for device in allocated(lab, name).cdi_devices]
        assert len(devices) == gpus
        asked = {device.removeprefix("nvidia.com/gpu=") for device in devices}
        assert asked <= set(known)
        # An older containerd says nothing, and does nothing either.
        assert got == (asked if knows_cdi() else set())
