"""Which pods a plugin refuses, by its knowledge from the API server."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from nvshare.kubernetes.admission import Grip, Tenant
from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.api import deviceplugin_pb2 as api
from nvshare.kubernetes.gpus import GpuState
from nvshare.kubernetes.placement import Card
from nvshare.kubernetes.plugin import Plugin
from nvshare.kubernetes.settings import PluginSettings
from nvshare.kubernetes.tenants import Tenants

from .making import make_pod

GIB = 1 << 30
CARD = Card(0, "GPU-a", 16 * GIB)


def tenant(name: str, memory: str) -> Tenant:
    pod = make_pod(name, annotations={"nvshare.com/gpu-memory-limit": memory}, phase="Pending")
    return Tenant(pod, read_orders(pod, None))


class Told(Tenants):
    """The pods known so far, and those that a query would find."""

    def __init__(self, known: Collection[Tenant] | None, fresh: Collection[Tenant] | None) -> None:
        super().__init__(hami=False)
        self._known, self._fresh = known, fresh

    def known(self) -> Collection[Tenant] | None:
        return self._known

    async def fresh(self) -> Collection[Tenant] | None:
        return self._fresh


class Refused(Exception):  # noqa: N818 (it is an answer)
    """Kubelet gets a refusal."""


class Context:
    async def abort(self, code: Any, details: str) -> None:
        del code
        raise Refused(details)


def allocate(tenants: Tenants, holder: str = "holder") -> api.AllocateResponse:
    """Ask for a device of a GPU on which a pod holds another."""

    async def ask() -> api.AllocateResponse:
        plugin = Plugin(PluginSettings(oversubscription=1.0, kubelet=Path("/absent")), tenants)
        await plugin.set_gpus((GpuState(CARD),))

        async def grips() -> list[Grip]:
            return [Grip("team", holder, "main", "GPU-a__0")]

        plugin._grips = grips  # type: ignore[method-assign]
        request = api.AllocateRequest()
        request.container_requests.add(devices_ids=["GPU-a__1"])
        return await plugin.Allocate(request, Context())  # type: ignore[arg-type]

    return asyncio.run(ask())


HOLDER = tenant("holder", "10Gi")


def test_a_pod_that_exceeds_the_bound_is_refused() -> None:
    tenants = [HOLDER, tenant("new", "7Gi")]
    with pytest.raises(Refused, match="nvshare: GPU 0 cannot promise another 7Gi"):
        allocate(Told(tenants, tenants))


def test_a_pod_that_fits_is_let_in() -> None:
    tenants = [HOLDER, tenant("new", "6Gi")]
    assert allocate(Told(tenants, None)).container_responses[0].mounts


def test_a_pod_that_kubelet_has_heard_of_before_us_is_let_in() -> None:
    assert allocate(Told([HOLDER], None)).container_responses[0].mounts


def test_nobody_is_refused_by_what_is_old() -> None:
    stale = [HOLDER, tenant("refused-before", "7Gi")]
    assert allocate(Told(stale, [HOLDER, tenant("new", "6Gi")])).container_responses[0].mounts
    # Nor if there is no answer to a query.
    assert allocate(Told(stale, None)).container_responses[0].mounts
    assert allocate(Told(None, None)).container_responses[0].mounts
