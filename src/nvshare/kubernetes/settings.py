"""The settings of the device plugin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nvshare.launch.trust import SYSTEM

RESOURCE = "nvshare.com/gpu"


@dataclass(frozen=True, kw_only=True)
class PluginSettings:
    """Everything. Paths are those of the node; the plugin's own container has the same ones."""

    resource: str = RESOURCE
    # How many virtual devices each GPU is offered as.
    replicas: int = 10
    # Memory promised per GPU, at most, as a multiple of what it has. None: no bound.
    oversubscription: float | None = None
    # How the interposer gets into programs: LD_PRELOAD, or /etc/ld.so.preload.
    preload: Literal["environment", "file"] = "environment"
    # How GPUs get into containers: NVIDIA_VISIBLE_DEVICES, or CDI.
    devices: Literal["environment", "cdi"] = "environment"
    # Where the installer has put things, and where the daemon's socket is.
    installed: Path = Path("/var/lib/nvshare")
    sockets: Path = SYSTEM
    # The node of the cluster; empty: its pods are not followed, and their limits not known.
    node: str = ""
    hami: bool = False
    # The folder of an emulated node in the place of GPUs.
    emulated: Path | None = None
    kubelet: Path = Path("/var/lib/kubelet")

    @property
    def plugins(self) -> Path:
        """The folder in which kubelet and plugins find each other."""
        return self.kubelet / "device-plugins"

    @property
    def pod_resources(self) -> Path:
        """The socket on which kubelet reports the holders of devices."""
        return self.kubelet / "pod-resources" / "kubelet.sock"
