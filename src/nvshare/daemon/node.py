"""One machine with its GPUs and its clients: makes the parts of the daemon, and wires them."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path

from nvshare.core import events
from nvshare.core.core import Core
from nvshare.daemon.clients.claims import Claims
from nvshare.daemon.clients.clients import Clients
from nvshare.daemon.clients.notices import Notices
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.clients.registration import Registration
from nvshare.daemon.clients.session import Session
from nvshare.daemon.executor import Executor
from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.gpus.outages import Outages
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.apply_limits import ApplyLimits
from nvshare.daemon.groups.groups import Group, Groups
from nvshare.daemon.groups.names import find_group
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.host.extents import Extents
from nvshare.daemon.host.headroom import Headroom, Reader, no_limits
from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.admission import Admission
from nvshare.daemon.tenants.deaths import Deaths
from nvshare.daemon.tenants.identity import Caller, own_container
from nvshare.daemon.tenants.peer import Peer
from nvshare.daemon.tenants.peers import Peers
from nvshare.daemon.usage.footprint import Footprint
from nvshare.daemon.usage.outsiders import Outsiders
from nvshare.daemon.usage.watch_thrashing import ThrashWatch
from nvshare.settings import DeviceSettings, NodeSettings, PeerSettings
from nvshare.wire import frames

# A client that has lost the daemon tries to reconnect at least every five seconds.
_RETURN_SECONDS = 10.0

log = logging.getLogger("nvshare.node")

_USUAL = PeerSettings()


class Node:
    """The parts, and the settings of the node and its GPUs."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        version: str,
        max_clients: int,
        spare_memory: int,
        gpu_clock: float = 1.0,
        folder: Path,
        on_population: Callable[[int], None],
        core: Core | None = None,
        memory_limits: Reader = no_limits,
        is_emulated: bool = False,
        populated: bool = True,
        peers: PeerSettings = _USUAL,
    ) -> None:
        self._loop = loop
        # The value of "auto" in host_memory.
        self._spare_memory = spare_memory
        self.node_settings = NodeSettings()
        self.executor = executor = Executor(core or Core(), loop, gpu_clock)
        self.gpus, self.clients, self.pods = Gpus(), Clients(), Pods()
        self.groups = Groups(folder, self.pods, own_container())
        own_pid = os.getpid() if populated else None
        headroom = Headroom(executor, memory_limits, is_emulated=is_emulated, own_pid=own_pid)
        self.parts = Parts(
            executor,
            self.gpus,
            self.clients,
            self.groups,
            Claims(executor, self.gpus, spare_memory),
            headroom,
            Extents(executor, headroom.own_room, populated=populated),
            Notices(executor, self.gpus, self.clients, self.pods),
        )
        executor.on_provide = self.parts.extents.aim
        self.outages = Outages(self.gpus, self.now, self._tell_clients)
        self.limits = ApplyLimits(executor, self.groups, self.pods)
        self.footprint = Footprint(self.parts)
        self.outsiders = Outsiders(self.parts)
        self.thrashing = ThrashWatch(self.parts, self.outsiders)
        self.registration = Registration(
            loop,
            self.parts,
            self.pods,
            self.limits,
            self.outages,
            version=version,
            max_clients=max_clients,
            on_joined=self.footprint.soon,
            on_population=on_population,
        )
        self.peers = Peers(loop, peers, max_clients)
        self._deaths = Deaths(loop)
        self._admission = Admission(self.peers, self._begin)
        self._sessions: set[Session] = set()
        self._forgetting = loop.call_later(_RETURN_SECONDS, self.groups.forget_missing)

    @property
    def core(self) -> Core:
        """The scheduling core."""
        return self.executor.core

    def now(self) -> float:
        """The time that events carry."""
        return self.executor.now()

    def add_gpu(self, gpu: Gpu, settings: DeviceSettings, reconnect_seconds: float) -> None:
        """Begin to share a GPU."""
        self.gpus.add(gpu, settings)
        self.executor.dispatch(
            events.DeviceAdded(
                now=self.now(),
                device=gpu.uuid,
                usable_bytes=settings.usable_of(gpu.memory),
                settings=settings.for_core(),
                reconnect_seconds=reconnect_seconds,
                context_bytes=settings.context_of(gpu.memory),
                unasked_bytes=frames.UNASKED_BYTES,
            )
        )

    def change_settings(self, gpu: Gpu, settings: DeviceSettings) -> None:
        """Change the settings of a GPU."""
        if self.gpus.settings[gpu.uuid] == settings:
            return
        self.gpus.settings[gpu.uuid] = settings
        log.info("settings changed", extra=fields(device=gpu.index, mode=settings.mode))
        self.registration.tell_settings(gpu)
        self.executor.dispatch(
            events.SettingsChanged(
                now=self.now(),
                device=gpu.uuid,
                settings=settings.for_core(),
                usable_bytes=settings.usable_of(gpu.memory),
                context_bytes=settings.context_of(gpu.memory),
            )
        )

    def change_node(self, settings: NodeSettings) -> None:
        """Change the settings of the node."""
        self.node_settings = settings
        chosen = settings.host_memory
        limit = self._spare_memory if chosen == "auto" else chosen
        log.info("host memory", extra=fields(limit=limit))
        self.executor.dispatch(events.HostMemoryChanged(now=self.now(), limit=limit))

    def find_group(self, name: str) -> Group:
        """Return the group that a name means: a pid, a program, a pod, a container."""
        return find_group(self.groups, self.pods, name)

    def connect(self, sock: socket.socket) -> bool:
        """Admit a connection, which may then send HELLO; false: not now, or not at all."""
        return self._admission.connect(sock)

    def _begin(self, sock: socket.socket, seen: Caller) -> Peer:
        end = self._sessions.discard
        session = Session(sock, self._loop, self.registration, self.peers, self._deaths, seen, end)
        self._sessions.add(session)
        return session.peer

    def _tell_clients(self, gpu: Gpu, text: str) -> None:
        for client in self.clients.of(gpu):
            client.send(frames.Notice(text))

    def close(self) -> None:
        """Disconnect all clients. They run on without the daemon."""
        self.executor.close()
        self._forgetting.cancel()
        self._admission.close()
        for session in list(self._sessions):
            session.abandon()
        self.groups.close()
