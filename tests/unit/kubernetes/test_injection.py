from pathlib import Path
from typing import Any

import pytest

import nvshare
from nvshare.kubernetes.api.deviceplugin_pb2 import ContainerAllocateResponse
from nvshare.kubernetes.injection import inject
from nvshare.kubernetes.settings import PluginSettings
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import create
from nvshare.lab.emulator.gpus import parse_gpus

GPUS = ["GPU-a", "GPU-b"]
INSTALLED = f"/var/lib/nvshare/{nvshare.__version__}"


def given(**options: Any) -> ContainerAllocateResponse:
    return inject(PluginSettings(**options), GPUS)


def mounts(response: ContainerAllocateResponse) -> set[tuple[str, str, bool]]:
    return {(one.host_path, one.container_path, one.read_only) for one in response.mounts}


def test_all_that_a_container_gets() -> None:
    response = given()
    assert response.envs["LD_PRELOAD"] == "/usr/local/nvshare/$LIB/libnvshare.so"
    assert response.envs["NVSHARE_SOCKET_DIR"] == "/run/nvshare"
    assert response.envs["NVIDIA_VISIBLE_DEVICES"] == "GPU-a,GPU-b"
    assert set(response.envs) == {
        "LD_PRELOAD",
        "NVSHARE_SOCKET_DIR",
        "NVSHARE_GROUP",
        "NVIDIA_VISIBLE_DEVICES",
    }
    assert mounts(response) == {
        (INSTALLED, "/usr/local/nvshare", True),
        ("/run/nvshare", "/run/nvshare", True),
    }
    assert not response.devices
    assert not response.cdi_devices
    assert not response.annotations


def test_through_a_file_of_the_linker() -> None:
    response = given(preload="file")
    assert "LD_PRELOAD" not in response.envs
    assert (f"{INSTALLED}/ld.so.preload", "/etc/ld.so.preload", True) in mounts(response)


def test_emulated_gpus_and_the_file_of_the_linker(tmp_path: Path) -> None:
    node = create(tmp_path, "here", Settings(), parse_gpus("1xtiny"))
    assert "LD_PRELOAD" not in given(emulated=node.folder, preload="file").envs


def test_through_cdi() -> None:
    response = given(devices="cdi")
    names = [one.name for one in response.cdi_devices]
    assert names == ["nvidia.com/gpu=GPU-a", "nvidia.com/gpu=GPU-b"]
    assert "NVIDIA_VISIBLE_DEVICES" not in response.envs


@pytest.mark.parametrize("devices", ["environment", "cdi"])
def test_emulated_gpus_come_with_their_driver(tmp_path: Path, devices: str) -> None:
    node = create(tmp_path, "here", Settings(speed=5.0), parse_gpus("2xtiny"))
    response = given(emulated=node.folder, devices=devices)
    # Only a library that every program of every image can load is preloaded.
    assert response.envs["LD_PRELOAD"] == "/usr/local/nvshare/$LIB/libnvshare.so"
    assert response.envs["LD_LIBRARY_PATH"] == "/usr/local/nvshare/emulator"
    assert response.envs["NVSHARE_EMULATOR_NODE"] == str(node.folder)
    assert response.envs["NVSHARE_EMULATOR_SPEED"] == "5"
    assert response.envs["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-b"
    assert "NVIDIA_VISIBLE_DEVICES" not in response.envs
    assert not response.cdi_devices
    assert (str(node.folder), str(node.folder), False) in mounts(response)


def test_containers_are_told_apart() -> None:
    assert given().envs["NVSHARE_GROUP"] != given().envs["NVSHARE_GROUP"]
