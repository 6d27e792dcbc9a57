"""The device plugin: answers kubelet's requests. placement.py decides where pods go."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from typing import Any

import grpc.aio

from nvshare.kubernetes.admission import Grip, Promise, Tenant, holdings, least_promise
from nvshare.kubernetes.api import deviceplugin_pb2 as api
from nvshare.kubernetes.api.deviceplugin_pb2_grpc import DevicePluginServicer
from nvshare.kubernetes.gpus import GpuState
from nvshare.kubernetes.injection import inject
from nvshare.kubernetes.placement import Bound, Card, Holding, device_id, gpu_of, prefer, refusal
from nvshare.kubernetes.podresources import list_grips
from nvshare.kubernetes.settings import PluginSettings
from nvshare.kubernetes.tenants import Tenants

log = logging.getLogger("nvshare.plugin")

Context = grpc.aio.ServicerContext[Any, Any]
OPTIONS = api.DevicePluginOptions(get_preferred_allocation_available=True)


class Plugin(DevicePluginServicer):
    """Answers kubelet."""

    def __init__(self, settings: PluginSettings, tenants: Tenants) -> None:
        self._settings = settings
        self._tenants = tenants
        self._gpus: tuple[GpuState, ...] = ()
        self._changed = asyncio.Condition()
        self._bound = Bound(settings.oversubscription)

    async def set_gpus(self, gpus: tuple[GpuState, ...]) -> None:
        """Take in the state of the GPUs, and tell kubelet."""
        async with self._changed:
            self._gpus = gpus
            self._changed.notify_all()

    async def GetDevicePluginOptions(  # noqa: N802 (the name is kubelet's, here and below)
        self, request: api.Empty, context: Context
    ) -> api.DevicePluginOptions:
        """Return which of the calls below we want."""
        del request, context
        return OPTIONS

    async def ListAndWatch(  # noqa: N802
        self, request: api.Empty, context: Context
    ) -> AsyncIterator[api.ListAndWatchResponse]:
        """Yield all devices, and again whenever a GPU breaks or is repaired."""
        del request, context
        while True:
            told = self._list()
            yield told
            async with self._changed:
                while self._list() == told:
                    await self._changed.wait()

    async def GetPreferredAllocation(  # noqa: N802
        self, request: api.PreferredAllocationRequest, context: Context
    ) -> api.PreferredAllocationResponse:
        """Choose devices, by the present holdings."""
        del context
        cards, grips, tenants = self._cards(), await self._grips(), self._tenants.known()
        response = api.PreferredAllocationResponse()
        for one in request.container_requests:
            held = _held(cards, grips, tenants, one.available_deviceIDs, self._settings.replicas)
            promise = self._promise(tenants, grips, one.allocation_size)
            chosen = prefer(
                cards,
                held,
                one.available_deviceIDs,
                list(one.must_include_deviceIDs),
                one.allocation_size,
                promise=promise.size if promise else None,
                bound=self._bound,
            )
            response.container_responses.add(deviceIDs=chosen)
        return response

    async def Allocate(  # noqa: N802
        self, request: api.AllocateRequest, context: Context
    ) -> api.AllocateResponse:
        """Give devices to a container."""
        cards, grips, tenants = self._cards(), await self._grips(), self._tenants.known()
        response = api.AllocateResponse()
        for one in request.container_requests:
            ids = list(one.devices_ids)
            if (why := self._refusal(cards, grips, tenants, ids)) is not None:
                # Kubelet may know a pod before we do. No pod is refused because of old data.
                why = self._refusal(cards, await self._grips(), await self._tenants.fresh(), ids)
            if why is not None:
                log.warning("a pod is refused: %s", why)
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"nvshare: {why}")
            gpus = list(dict.fromkeys(gpu_of(device) for device in ids))
            response.container_responses.append(inject(self._settings, gpus))
            log.info("a container gets %s", ", ".join(ids))
        return response

    def _promise(
        self, tenants: Collection[Tenant] | None, grips: Collection[Grip] | None, size: int
    ) -> Promise | None:
        if tenants is None or grips is None:
            return None
        return least_promise(tenants, grips, self._settings.resource, size)

    def _refusal(
        self,
        cards: Collection[Card],
        grips: Collection[Grip] | None,
        tenants: Collection[Tenant] | None,
        ids: Collection[str],
    ) -> str | None:
        """Why a container may not have these devices. An unknown container is not refused."""
        promise = self._promise(tenants, grips, len(ids))
        if promise is None:
            return None
        held = holdings(cards, grips or (), tenants or ())
        return refusal(cards, held, ids, promise.size, self._bound)

    def _cards(self) -> list[Card]:
        return [gpu.card for gpu in self._gpus]

    def _list(self) -> api.ListAndWatchResponse:
        response = api.ListAndWatchResponse()
        for gpu in self._gpus:
            health = "Unhealthy" if gpu.problem else "Healthy"
            for number in range(self._settings.replicas):
                response.devices.add(ID=device_id(gpu.card.uuid, number), health=health)
        return response

    async def _grips(self) -> list[Grip] | None:
        try:
            return await list_grips(self._settings.pod_resources, self._settings.resource)
        except grpc.aio.AioRpcError as error:
            log.warning("kubelet does not tell which pods hold which devices: %s", error.details())
            return None


def _held(
    cards: Collection[Card],
    grips: Collection[Grip] | None,
    tenants: Collection[Tenant] | None,
    available: Collection[str],
    replicas: int,
) -> list[Holding]:
    """The holdings; where kubelet does not report them, every unavailable device counts as held."""
    if grips is not None:
        return holdings(cards, grips, tenants or ())
    free = set(available)
    return [
        Holding(device, card.uuid, card.memory)
        for card in cards
        for device in (device_id(card.uuid, number) for number in range(replicas))
        if device not in free
    ]
