"""The GPUs with their settings, and who is connected: what the rest of the daemon meets around."""

import asyncio
import itertools
import logging
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nvshare.core import events
from nvshare.core.events import Event
from nvshare.core.node import Core
from nvshare.core.settings import Priority
from nvshare.daemon.devices import Gpu
from nvshare.daemon.executor import Executor
from nvshare.daemon.logs import fields
from nvshare.daemon.pods import Pods
from nvshare.daemon.session import Rejection, Session
from nvshare.telemetry.pods import PodOrders
from nvshare.telemetry.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.wire import frames

log = logging.getLogger("nvshare.node")


@dataclass(frozen=True, slots=True)
class Member:
    """A registered client."""

    id: int
    gpu: Gpu
    context: int
    since: float


class Node:
    """One machine with its GPUs and its clients."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        version: str,
        max_clients: int,
        spare_memory: int,
        on_population: Callable[[int], None],
        core: Core | None = None,
    ) -> None:
        self._loop = loop
        self._version = version
        self.max_clients = max_clients
        # What "auto" stands for in host_memory.
        self._spare_memory = spare_memory
        self._on_population = on_population
        self.executor = Executor(core or Core(), loop)
        self.gpus: dict[str, Gpu] = {}
        self.settings: dict[str, DeviceSettings] = {}
        self.node_settings = NodeSettings()
        self.handovers: dict[str, int] = {}
        self.members: dict[int, Session] = {}
        self.pods = Pods()
        self._by_key: dict[bytes, Gpu] = {}
        self._strangers: set[Session] = set()
        self._numbers = itertools.count(1)

    @property
    def core(self) -> Core:
        """What decides."""
        return self.executor.core

    def now(self) -> float:
        """The time that events carry."""
        return self.executor.now()

    def dispatch(self, event: Event) -> None:
        """Tell the core what has happened, and do what it says."""
        self.executor.dispatch(event)

    def add_gpu(self, gpu: Gpu, settings: DeviceSettings, settle_seconds: float) -> None:
        """Begin to share a GPU."""
        self.gpus[gpu.uuid] = self._by_key[gpu.key] = gpu
        self.settings[gpu.uuid] = settings
        self.handovers[gpu.uuid] = 0
        self.dispatch(
            events.DeviceAdded(
                now=self.now(),
                device=gpu.uuid,
                usable_bytes=settings.usable_of(gpu.memory),
                settings=settings.for_core(),
                settle_seconds=settle_seconds,
            )
        )

    def change_settings(self, gpu: Gpu, settings: DeviceSettings) -> None:
        """Share a GPU by other rules from now on."""
        if self.settings[gpu.uuid] == settings:
            return
        self.settings[gpu.uuid] = settings
        log.info("settings changed", extra=fields(device=gpu.index, mode=settings.mode))
        for session in self.members_of(gpu):
            session.send(client_settings(settings))
        self.dispatch(
            events.SettingsChanged(
                now=self.now(),
                device=gpu.uuid,
                settings=settings.for_core(),
                usable_bytes=settings.usable_of(gpu.memory),
            )
        )

    def change_node(self, settings: NodeSettings) -> None:
        """Use the machine by other rules from now on."""
        self.node_settings = settings
        chosen = settings.host_memory
        limit = self._spare_memory if chosen == "auto" else chosen
        log.info("host memory", extra=fields(limit=limit))
        self.dispatch(events.HostMemoryChanged(now=self.now(), limit=limit))

    def change_limits(self, member: Member, limits: ClientLimits) -> None:
        """Let a client use more or less from now on."""
        self.dispatch(
            events.LimitsChanged(
                now=self.now(),
                client=member.id,
                limits=limits.for_core(),
            )
        )
        log.info("limits changed", extra=fields(client=member.id, **limits.model_dump()))

    def apply_limits(self, session: Session) -> None:
        """Let a client use what is right for it: what was set for it, and over that its pod's."""
        if session.member is None:
            return
        limits = self.pods.limits(session.identity, session.own_limits)
        if limits != limits_of(self.core, session.member):
            self.change_limits(session.member, limits)

    def change_pod(self, uid: str, orders: PodOrders | None) -> None:
        """Take note of what a pod asks for. Programs that outlive their pod keep what they have."""
        self.pods.set(uid, orders)
        if orders is not None:
            for session in [s for s in self.members.values() if s.identity.pod == uid]:
                self.apply_limits(session)

    def find_gpus(self, name: str) -> Sequence[Gpu]:
        """Return the GPUs that a name means: an index, a UUID, the beginning of one, or "all"."""
        return [
            gpu
            for gpu in self.gpus.values()
            if name in ("all", str(gpu.index)) or (len(name) >= 8 and gpu.uuid.startswith(name))
        ]

    def find_members(self, name: str) -> Sequence[Session]:
        """Return the clients of a number: all of a process with this pid, or the one with this id.

        Pids and ids are told apart by a leading "#": "#3" is client 3.
        """
        if name.startswith("#"):
            return [s for s in self.members.values() if s.member and f"#{s.member.id}" == name]
        return [s for s in self.members.values() if str(s.identity.pid) == name]

    def members_of(self, gpu: Gpu) -> Sequence[Session]:
        """Return the clients of a GPU."""
        return [s for s in self.members.values() if s.member and s.member.gpu is gpu]

    def connect(self, sock: socket.socket) -> None:
        """Take in a connection; it may introduce itself."""
        self._strangers.add(Session(sock, self._loop, self))

    def enter(self, session: Session, hello: frames.Hello) -> Member:
        """Make a stranger a client. Whatever it is sent next comes after WELCOME."""
        gpu = self._by_key.get(hello.device_uuid)
        if gpu is None:
            text = f"the daemon has no GPU {hello.device_uuid.hex()}; it may be on another node"
            raise Rejection(frames.RejectCode.DEVICE, text)
        if len(self.members) >= self.max_clients:
            text = f"there are {len(self.members)} clients already, which is max_clients"
            raise Rejection(frames.RejectCode.FULL, text)
        settings = self.settings[gpu.uuid]
        number = next(self._numbers)
        member = Member(number, gpu, settings.context_of(gpu.memory), self.now())
        self._strangers.discard(session)
        session.member = member
        self.members[number] = session
        self.executor.add(number, session)
        session.send(frames.Welcome(number, self._version))
        session.send(client_settings(settings))
        self._on_population(len(self.members))
        return member

    def leave(self, session: Session) -> None:
        """Forget a connection that has ended."""
        self._strangers.discard(session)
        if session.member is None:
            return
        number = session.member.id
        # Before the core decides anything: what it sends to this client goes nowhere.
        self.executor.remove(number)
        del self.members[number]
        self.dispatch(events.ClientLeft(now=self.now(), client=number))
        self._on_population(len(self.members))

    def heir(self, member: Member, turn: int) -> int | None:
        """Return to whom a client has handed its turn, if it has."""
        heir = self.executor.heir(member.id, turn)
        if heir is not None:
            self.handovers[member.gpu.uuid] += 1
        return heir

    def close(self) -> None:
        """Let go of everybody. They run on without us."""
        self.executor.close()
        for session in [*self.members.values(), *self._strangers]:
            session.member = None
            session.close("the daemon ends")


def limits_of(core: Core, member: Member) -> ClientLimits:
    """Return the limits in force."""
    limits = core.devices[member.gpu.uuid].roster.clients[member.id].limits
    return ClientLimits(
        memory_limit=limits.memory_bytes,
        compute_percent=limits.compute_percent,
        burst=limits.burst or None,
        priority=None if limits.priority is Priority.NORMAL else limits.priority.value,
    )


def client_settings(settings: DeviceSettings) -> frames.Settings:
    """The part of the settings that clients look at."""
    flags = frames.SettingFlags.OVERSUBSCRIBE if settings.oversubscribe else frames.SettingFlags(0)
    return frames.Settings(round(settings.inflight * 1e6), round(settings.idle_grace * 1e6), flags)
