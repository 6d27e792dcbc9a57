"""The device plugin as a process on an emulated node, with a scripted kubelet."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nvshare.kubernetes.placement import gpu_of
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.fault import set_fault
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

from .kubelet import Kubelet, PluginCaller


@dataclass
class Stage:
    """A kubelet, and a plugin that has to find it."""

    kubelet: Kubelet
    node: Node
    folder: Path
    process: "subprocess.Popen[str] | None" = None

    def start(self, *options: str, gpus: bool = True) -> None:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
        environment = self.node.environment(library_folder(), inherited) if gpus else {}
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "nvshare", "device-plugin"),
                *(f"--kubelet={self.folder}", f"--health={self.folder / 'health.sock'}"),
                *options,
            ],
            env={**inherited, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )

    def stop(self) -> str:
        """End the plugin; return its log."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, log
        self.process = None
        return log


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    kubelet = Kubelet(tmp_path)
    with transient_node(node_root(), Settings(), parse_gpus("2xt4")) as node:
        stage = Stage(kubelet, node, tmp_path)
        yield stage
        if stage.process is not None:
            log = stage.stop()
            assert "Traceback" not in log, log
        kubelet.stop()


def test_from_registration_to_allocation(stage: Stage) -> None:
    stage.kubelet.start()
    stage.start("--replicas=4")
    plugin = stage.kubelet.await_plugin()
    (request,) = stage.kubelet.registered
    assert (request.version, request.resource_name) == ("v1beta1", "nvshare.com/gpu")
    assert request.options.get_preferred_allocation_available
    assert not request.options.pre_start_required
    assert plugin.options() == request.options

    devices = plugin.health()
    assert len(devices) == 8
    assert set(devices.values()) == {"Healthy"}
    first, second = plugin.prefer(list(devices), 2)
    assert gpu_of(first) != gpu_of(second)
    response = plugin.allocate(first, second)
    assert response.envs["NVIDIA_VISIBLE_DEVICES"] == f"{gpu_of(first)},{gpu_of(second)}"
    plugin.close()


def spread(stage: Stage, plugin: PluginCaller, devices: list[str]) -> Counter[str]:
    """Allocate for four pods; return how many are on each GPU."""
    for number in range(4):
        held = {one for ids in stage.kubelet.holders.values() for one in ids}
        (chosen,) = plugin.prefer([one for one in devices if one not in held], 1)
        plugin.allocate(chosen)
        stage.kubelet.holders[f"pod-{number}"] = [chosen]
    return Counter(gpu_of(ids[0]) for ids in stage.kubelet.holders.values())


def test_pods_are_spread_evenly_however_often_they_come_and_go(stage: Stage) -> None:
    stage.kubelet.start()
    stage.start()
    plugin = stage.kubelet.await_plugin()
    devices = list(plugin.health())
    for _ in range(10):
        assert sorted(spread(stage, plugin, devices).values()) == [2, 2]
        stage.kubelet.holders.clear()
    plugin.close()


def test_a_kubelet_that_starts_again_is_registered_with_again(stage: Stage) -> None:
    stage.start()
    stage.kubelet.start()
    stage.kubelet.await_plugin().close()
    for count in (2, 3):
        stage.kubelet.stop()
        stage.kubelet.start()
        plugin = stage.kubelet.await_plugin(count)
        assert len(plugin.health()) == 20
        plugin.close()


def test_a_plugin_that_starts_again_registers_again(stage: Stage) -> None:
    stage.kubelet.start()
    for count in (1, 2):
        stage.start()
        plugin = stage.kubelet.await_plugin(count)
        assert len(plugin.health()) == 20
        plugin.close()
        stage.stop()


def test_a_broken_gpu_is_unfit_and_fit_again_when_it_is_mended(stage: Stage) -> None:
    stage.kubelet.start()
    stage.start("--replicas=1")
    plugin = stage.kubelet.await_plugin()
    assert list(plugin.health().values()) == ["Healthy", "Healthy"]
    set_fault(stage.node, 1, 48, needs_reset=True)
    assert list(plugin.health().values()) == ["Healthy", "Unhealthy"]
    set_fault(stage.node, 0, 79, needs_reset=True)
    assert list(plugin.health().values()) == ["Unhealthy", "Unhealthy"]
    set_fault(stage.node, 1, 0, needs_reset=False)
    assert list(plugin.health().values()) == ["Unhealthy", "Healthy"]
    set_fault(stage.node, 0, 0, needs_reset=False)
    assert list(plugin.health().values()) == ["Healthy", "Healthy"]
    plugin.close()


def test_an_error_of_a_program_leaves_the_gpu_fit(stage: Stage) -> None:
    stage.kubelet.start()
    stage.start("--replicas=1")
    plugin = stage.kubelet.await_plugin()
    assert list(plugin.health().values()) == ["Healthy", "Healthy"]
    set_fault(stage.node, 0, 31, needs_reset=False)
    set_fault(stage.node, 1, 48, needs_reset=True)
    # The first list is that of the other GPU.
    assert list(plugin.health().values()) == ["Healthy", "Unhealthy"]
    plugin.close()


def test_without_gpus_it_is_quiet_and_well(stage: Stage) -> None:
    stage.kubelet.start()
    stage.start(gpus=False)
    probe = [sys.executable, "-m", "nvshare.kubernetes.probe", str(stage.folder / "health.sock")]
    deadline = 100
    while subprocess.run(probe, stderr=subprocess.DEVNULL).returncode != 0:
        deadline -= 1
        assert deadline
    assert stage.kubelet.registered == []
    assert stage.stop() == ""
