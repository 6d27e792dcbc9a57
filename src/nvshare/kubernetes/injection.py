"""What a container gets: variables, mounts and devices. Decides nothing.

The variables are those of ``nvshare run``, and come from the same function.
"""

from collections.abc import Sequence
from pathlib import Path

from nvshare.kubernetes.api.deviceplugin_pb2 import CDIDevice, ContainerAllocateResponse, Mount
from nvshare.kubernetes.layout import EMULATOR, INSIDE, PLACE, PRELOAD_FILE, version_folder
from nvshare.kubernetes.settings import PluginSettings
from nvshare.lab.emulator.emulated_node import find
from nvshare.launch.preload import LIBRARY, Wishes, program_environment

_CDI_KIND = "nvidia.com/gpu"
_SYSTEM_PRELOAD = Path("/etc/ld.so.preload")


def inject(settings: PluginSettings, gpus: Sequence[str]) -> ContainerAllocateResponse:
    """Return everything for a container that may use these GPUs."""
    # The container runtime hides other real GPUs. An emulated driver has to be told which to show.
    wishes = Wishes(gpus=",".join(gpus) if settings.emulated else None)
    preloaded = INSIDE / PLACE / LIBRARY
    variables = program_environment(wishes, settings.sockets, preloaded, {})
    mounts = [
        _read_only(version_folder(settings.installed), INSIDE),
        # The folder and not the socket in it: a restarted daemon makes a new one.
        _read_only(settings.sockets, settings.sockets),
    ]
    if settings.preload == "file":
        del variables["LD_PRELOAD"]
        mounts.append(
            _read_only(version_folder(settings.installed) / PRELOAD_FILE, _SYSTEM_PRELOAD)
        )
    response = ContainerAllocateResponse(envs=variables, mounts=mounts)
    if settings.emulated:
        _add_emulated(response, settings.emulated)
    elif settings.devices == "cdi":
        response.cdi_devices.extend(CDIDevice(name=f"{_CDI_KIND}={uuid}") for uuid in gpus)
    else:
        response.envs["NVIDIA_VISIBLE_DEVICES"] = ",".join(gpus)
    return response


def _add_emulated(response: ContainerAllocateResponse, folder: Path) -> None:
    node = find(folder.parent, folder.name)
    variables = node.environment(INSIDE / EMULATOR, {})
    # Programs that look for CUDA runtimes find them. Preloaded, they would keep all programs of an
    # image from starting if its C library is older than theirs, or a different one.
    del variables["LD_PRELOAD"]
    response.envs.update(variables)
    # Programs on an emulated node share its state, and write to it.
    response.mounts.append(Mount(host_path=str(folder), container_path=str(folder)))


def _read_only(host: Path, container: Path) -> Mount:
    return Mount(host_path=str(host), container_path=str(container), read_only=True)
