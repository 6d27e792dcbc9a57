"""Serves the plugin on a socket in kubelet's folder, and registers it with kubelet.

Kubelet forgets all plugins when it starts, and removes their sockets. So both steps are repeated
whenever its socket is a new one, or ours is gone.
"""

import asyncio
import logging
from pathlib import Path

import grpc.aio

from nvshare.kubernetes.api import deviceplugin_pb2 as api
from nvshare.kubernetes.api.deviceplugin_pb2_grpc import (
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)
from nvshare.kubernetes.backoff import Backoff
from nvshare.kubernetes.folder import FolderWatch
from nvshare.kubernetes.plugin import OPTIONS, Plugin
from nvshare.kubernetes.settings import PluginSettings

log = logging.getLogger("nvshare.plugin")

API_VERSION = "v1beta1"
KUBELET = "kubelet.sock"
# One name is enough: a resource has one plugin, and two would conflict anyway.
_ENDPOINT = "nvshare.sock"
_PATIENCE = 10.0
_GRACE = 1.0


async def stay_registered(settings: PluginSettings, plugin: Plugin) -> None:
    """Serve kubelet until cancelled, across restarts of either side."""
    backoff = Backoff(0.5, 30.0)
    folder = FolderWatch(settings.plugins)
    try:
        while True:
            kubelet = await _appearance(settings.plugins / KUBELET, folder)
            server = await _serve(settings.plugins / _ENDPOINT, plugin)
            try:
                await _register(settings)
                backoff.reset()
                log.info("registered with kubelet as %s", settings.resource)
                await _change(settings.plugins, kubelet, folder)
                log.info("kubelet has started again")
            except grpc.aio.AioRpcError as error:
                log.warning("kubelet refuses the registration: %s", error.details())
                await asyncio.sleep(backoff.pause())
            finally:
                await server.stop(_GRACE)
    finally:
        folder.close()


async def _appearance(socket: Path, folder: FolderWatch) -> tuple[int, int]:
    """Wait until there is a kubelet; return which one it is."""
    while (found := _identity(socket)) is None:
        await folder.wait()
    return found


async def _change(plugins: Path, kubelet: tuple[int, int], folder: FolderWatch) -> None:
    """Wait until that kubelet or our own socket is gone."""
    while _identity(plugins / KUBELET) in (kubelet, None) and (plugins / _ENDPOINT).exists():
        await folder.wait()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from another of the same name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_ctime_ns


async def _serve(socket: Path, plugin: Plugin) -> grpc.aio.Server:
    socket.unlink(missing_ok=True)
    server = grpc.aio.server()
    add_DevicePluginServicer_to_server(plugin, server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(f"unix://{socket}")
    await server.start()
    socket.chmod(0o600)
    return server


async def _register(settings: PluginSettings) -> None:
    request = api.RegisterRequest(
        version=API_VERSION,
        endpoint=_ENDPOINT,
        resource_name=settings.resource,
        options=OPTIONS,
    )
    async with grpc.aio.insecure_channel(f"unix://{settings.plugins / KUBELET}") as channel:
        stub = RegistrationStub(channel)  # type: ignore[no-untyped-call]
        await stub.Register(request, timeout=_PATIENCE, wait_for_ready=True)
