"""Asks kubelet which container holds which device now."""

from pathlib import Path

import grpc.aio

from nvshare.kubernetes.admission import Grip
from nvshare.kubernetes.api.podresources_pb2 import (
    ListPodResourcesRequest,
    ListPodResourcesResponse,
)
from nvshare.kubernetes.api.podresources_pb2_grpc import PodResourcesListerStub

# Kubelet waits for us while we ask it.
_PATIENCE = 3.0


async def list_grips(socket: Path, resource: str) -> list[Grip]:
    """Return the containers that hold devices of a resource."""
    async with grpc.aio.insecure_channel(f"unix://{socket}") as channel:
        stub = PodResourcesListerStub(channel)  # type: ignore[no-untyped-call]
        answer: ListPodResourcesResponse = await stub.List(
            ListPodResourcesRequest(), timeout=_PATIENCE
        )
    return [
        Grip(pod.namespace, pod.name, container.name, device)
        for pod in answer.pod_resources
        for container in pod.containers
        for devices in container.devices
        if devices.resource_name == resource
        for device in devices.device_ids
    ]
