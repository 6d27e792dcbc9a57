"""A scripted kubelet: registers plugins, allocates devices, and lists the pods that hold them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from nvshare.kubernetes.api import deviceplugin_pb2 as api
from nvshare.kubernetes.api import podresources_pb2 as resources
from nvshare.kubernetes.api.deviceplugin_pb2_grpc import (
    DevicePluginStub,
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from nvshare.kubernetes.api.podresources_pb2_grpc import (
    PodResourcesListerServicer,
    add_PodResourcesListerServicer_to_server,
)

RESOURCE = "nvshare.com/gpu"


class Kubelet(RegistrationServicer, PodResourcesListerServicer):
    """One kubelet, from its start to its end."""

    def __init__(self, folder: Path) -> None:
        self._plugins = folder / "device-plugins"
        self._resources = folder / "pod-resources"
        for part in (self._plugins, self._resources):
            part.mkdir(parents=True, exist_ok=True)
        self.registered: list[api.RegisterRequest] = []
        self._registration = threading.Condition()
        # Devices by pod.
        self.holders: dict[str, list[str]] = {}
        self._server: grpc.Server | None = None

    def start(self) -> None:
        """Start, as a real one does: earlier registrations are forgotten."""
        for path in self._plugins.glob("*.sock"):
            path.unlink()
        self._server = grpc.server(ThreadPoolExecutor(4))
        add_RegistrationServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        add_PodResourcesListerServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self._server.add_insecure_port(f"unix://{self._plugins / 'kubelet.sock'}")
        self._server.add_insecure_port(f"unix://{self._resources / 'kubelet.sock'}")
        self._server.start()

    def stop(self) -> None:
        """End."""
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def Register(self, request: api.RegisterRequest, context: Any) -> api.Empty:  # noqa: N802
        """Register a plugin."""
        del context
        with self._registration:
            self.registered.append(request)
            self._registration.notify_all()
        return api.Empty()

    def List(  # noqa: N802
        self, request: resources.ListPodResourcesRequest, context: Any
    ) -> resources.ListPodResourcesResponse:
        """List the devices of each pod."""
        del request, context
        response = resources.ListPodResourcesResponse()
        for name, devices in self.holders.items():
            container = response.pod_resources.add(name=name, namespace="team").containers.add(
                name="main"
            )
            # One entry per device, as kubelet does it; devices of other kinds are listed too.
            for device in devices:
                container.devices.add(resource_name=RESOURCE, device_ids=[device])
            container.devices.add(resource_name="other.com/thing", device_ids=["x"])
        return response

    def await_plugin(self, count: int = 1) -> "PluginCaller":
        """Wait until a plugin has registered so many times; return it."""
        with self._registration:
            assert self._registration.wait_for(lambda: len(self.registered) >= count, 30)
        return PluginCaller(self._plugins / self.registered[-1].endpoint)


class PluginCaller:
    """A plugin, as kubelet calls it."""

    def __init__(self, socket: Path) -> None:
        self._channel = grpc.insecure_channel(f"unix://{socket}")
        self._stub = DevicePluginStub(self._channel)  # type: ignore[no-untyped-call]
        self._lists = self._stub.ListAndWatch(api.Empty(), timeout=60, wait_for_ready=True)

    def close(self) -> None:
        """Let go of it."""
        self._channel.close()

    def health(self) -> dict[str, str]:
        """Wait for the next list of devices; return their health."""
        return {device.ID: device.health for device in next(self._lists).devices}

    def options(self) -> api.DevicePluginOptions:
        """Ask which optional calls it wants."""
        answer: api.DevicePluginOptions = self._stub.GetDevicePluginOptions(api.Empty(), timeout=30)
        return answer

    def prefer(self, available: list[str], size: int) -> list[str]:
        """Ask which devices to take."""
        request = api.PreferredAllocationRequest()
        request.container_requests.add(available_deviceIDs=available, allocation_size=size)
        answer = self._stub.GetPreferredAllocation(request, timeout=30)
        return list(answer.container_responses[0].deviceIDs)

    def allocate(self, *devices: str) -> api.ContainerAllocateResponse:
        """Give devices to a container."""
        request = api.AllocateRequest()
        request.container_requests.add(devices_ids=devices)
        answer: api.AllocateResponse = self._stub.Allocate(request, timeout=30)
        return answer.container_responses[0]
