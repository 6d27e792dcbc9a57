"""The GPUs with their settings, and the connected clients: the state that the daemon shares."""

import asyncio
import itertools
import logging
import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from nvshare.core import events
from nvshare.core.core import Core
from nvshare.core.effects import ReportKind
from nvshare.core.events import Event
from nvshare.core.settings import Limits
from nvshare.daemon.absence import Absences
from nvshare.daemon.admission import Admission
from nvshare.daemon.allocation import Decision, decide
from nvshare.daemon.belief import Belief
from nvshare.daemon.client_settings import client_settings
from nvshare.daemon.deaths import Deaths
from nvshare.daemon.devices import Gpu
from nvshare.daemon.executor import Executor
from nvshare.daemon.extents import Extents
from nvshare.daemon.footprint import Footprint
from nvshare.daemon.groups import Group, Groups
from nvshare.daemon.headroom import Headroom, Reader, no_limits
from nvshare.daemon.identity import Identity, Visitor, own_container
from nvshare.daemon.logs import fields
from nvshare.daemon.naming import find_group, name_of
from nvshare.daemon.outsiders import Outsiders
from nvshare.daemon.peer import Peer
from nvshare.daemon.peers import Peers
from nvshare.daemon.pod_limits import Pods
from nvshare.daemon.reading import Rejection
from nvshare.daemon.session import Session
from nvshare.daemon.thrash_watch import ThrashWatch
from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings, PeerSettings
from nvshare.telemetry.ceilings import Ceilings
from nvshare.telemetry.pod_orders import PodOrders
from nvshare.telemetry.time.client_time import NAMES
from nvshare.wire import frames

# A client that has lost the daemon tries to reconnect at least every five seconds.
_RETURN_SECONDS = 10.0

# The highest turn of an earlier daemon that a client may claim: two years of a thousand each
# second. Later turns have higher numbers, and a false claim must not use these up.
_MOST_AHEAD = 1 << 36

log = logging.getLogger("nvshare.node")

_USUAL = PeerSettings()


@dataclass(slots=True, eq=False)
class Member:
    """A registered client."""

    id: int
    gpu: Gpu
    # The memory that it does not report: its context, its modules, and what its pools keep.
    context: int
    since: float
    group: Group


class Node:
    """One machine with its GPUs and its clients."""

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
        self._version = version
        self.max_clients = max_clients
        self.peers = Peers(loop, peers, max_clients)
        self.deaths = Deaths(loop)
        self._admission = Admission(self.peers, self._begin)
        # The value of "auto" in host_memory.
        self.spare_memory = spare_memory
        self._on_population = on_population
        self.executor = Executor(core or Core(), loop, gpu_clock)
        self.gpus: dict[str, Gpu] = {}
        self.absences = Absences(self)
        self.settings: dict[str, DeviceSettings] = {}
        self.node_settings = NodeSettings()
        self.handovers: dict[str, int] = {}
        # By GPU, the counters of clients that have left.
        self.departed: dict[str, Counter[str]] = {}
        self.sessions: dict[int, Session] = {}
        # By GPU, the number of its clients, and the settings that they were told.
        self._populations: Counter[str] = Counter()
        self._told: dict[str, frames.Settings] = {}
        self.headroom = Headroom(
            self,
            memory_limits,
            is_emulated=is_emulated,
            own_pid=os.getpid() if populated else None,
        )
        self.belief = Belief(self)
        self.footprint = Footprint(self)
        self.outsiders = Outsiders(self)
        self.thrashing = ThrashWatch(self)
        self.extents = Extents(self, populated=populated)
        self.executor.on_provide = self.extents.aim
        self.pods = Pods()
        self._listeners: list[Callable[[str, str, str], None]] = []
        self.groups = Groups(folder, self.pods, own_container())
        self._forgetting = loop.call_later(_RETURN_SECONDS, self.groups.forget_missing)
        self._by_key: dict[bytes, Gpu] = {}
        self._strangers: set[Session] = set()
        self._numbers = itertools.count(1)

    @property
    def core(self) -> Core:
        """The scheduling core."""
        return self.executor.core

    def now(self) -> float:
        """The time that events carry."""
        return self.executor.now()

    def dispatch(self, event: Event) -> None:
        """Pass an event to the core, and carry out the effects."""
        self.executor.dispatch(event)

    def add_gpu(self, gpu: Gpu, settings: DeviceSettings, reconnect_seconds: float) -> None:
        """Begin to share a GPU."""
        self.gpus[gpu.uuid] = self._by_key[gpu.key] = gpu
        self.settings[gpu.uuid] = settings
        self.handovers[gpu.uuid] = 0
        self.departed[gpu.uuid] = Counter()
        self.dispatch(
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
        if self.settings[gpu.uuid] == settings:
            return
        self.settings[gpu.uuid] = settings
        log.info("settings changed", extra=fields(device=gpu.index, mode=settings.mode))
        self._tell_settings(gpu)
        self.dispatch(
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
        limit = self.spare_memory if chosen == "auto" else chosen
        log.info("host memory", extra=fields(limit=limit))
        self.dispatch(events.HostMemoryChanged(now=self.now(), limit=limit))

    def change_limits(self, group: Group, changes: Mapping[str, Any], by: str) -> None:
        """Change the limits of a group, as a user has set them."""
        self.groups.choose(group, changes)
        self.apply_limits(group, by)

    def apply_limits(self, group: Group, by: str) -> None:
        """Apply the present limits of a group. Memory limits hold when this returns."""
        limits = self.groups.limits(group)
        before, group.in_force = group.in_force, limits
        if before is None or before == limits:
            # A newcomer has already been told.
            return
        for page in group.pages.values():
            self.groups.limit_page(group, page)
        for session in group.sessions.values():
            member = session.member
            if member is None or limits == limits_of(self.core, member):
                continue
            self.dispatch(
                events.LimitsChanged(now=self.now(), client=member.id, limits=limits.for_core())
            )
        words = {"before": before.in_words(), "now": limits.in_words()}
        name = name_of(group, self.pods)
        log.info("limits changed", extra=fields(group=group.key, name=name, by=by, **words))

    def change_pod(self, uid: str, orders: PodOrders | None) -> None:
        """Note a pod's orders. Programs that outlive their pod keep their limits."""
        self.pods.set(uid, orders)
        if orders is not None:
            for group in [g for g in self.groups.all() if self.pods.uid(g.identity) == uid]:
                self.apply_limits(group, f"pod {orders.namespace}/{orders.name}")

    def change_ceilings(self, ceilings: Ceilings) -> None:
        """Change the ceilings for the programs of pods."""
        self.pods.ceilings = ceilings
        for group in self.groups.all():
            self.apply_limits(group, "ceilings")

    def on_notice(self, listener: Callable[[str, str, str], None]) -> None:
        """Add a listener for events of pods; it is called with uid, kind and text."""
        self._listeners.append(listener)

    def tell_pod(self, who: Identity, kind: ReportKind, text: str) -> None:
        """Tell the listeners about an event of a process's pod."""
        if uid := self.pods.uid(who):
            for listener in self._listeners:
                listener(uid, kind.value, f"{who.program}: {text}")

    def find_gpus(self, name: str) -> Sequence[Gpu]:
        """Return the GPUs that a name means: an index, a UUID, the beginning of one, or "all"."""
        return [
            gpu
            for gpu in self.gpus.values()
            if name in ("all", str(gpu.index)) or (len(name) >= 8 and gpu.uuid.startswith(name))
        ]

    def find_group(self, name: str) -> Group:
        """Return the group that a name means: a pid, a program, a pod, a container."""
        return find_group(self.groups, self.pods, name)

    def sessions_of(self, gpu: Gpu) -> Sequence[Session]:
        """Return the clients of a GPU."""
        return [s for s in self.sessions.values() if s.member and s.member.gpu is gpu]

    def connect(self, sock: socket.socket) -> bool:
        """Admit a connection, which may then send HELLO; false: not now, or not at all."""
        return self._admission.connect(sock)

    def _begin(self, sock: socket.socket, seen: Visitor) -> Peer:
        session = Session(sock, self._loop, self, seen)
        self._strangers.add(session)
        return session.peer

    def awaits_page(self, who: Identity, hello: frames.Hello) -> bool:
        """Whether other members of a client's group are about to bring back their quota page."""
        gpu = self._by_key.get(hello.device_uuid)
        return gpu is not None and self.groups.awaits_page(who, hello, gpu.uuid)

    def enter(self, session: Session, hello: frames.Hello) -> Member:
        """Register a connection as a client. Later frames to it come after WELCOME."""
        gpu = self._by_key.get(hello.device_uuid)
        if gpu is None:
            text = f"the daemon has no GPU {hello.device_uuid.hex()}; it may be on another node"
            raise Rejection(frames.RejectCode.DEVICE, text)
        if len(self.sessions) >= self.max_clients:
            text = f"there are {len(self.sessions)} clients already, which is max_clients"
            raise Rejection(frames.RejectCode.FULL, text)
        if hello.turn > self.core.view(gpu.uuid).last_turn + _MOST_AHEAD:
            raise Rejection(frames.RejectCode.PROTOCOL, f"there was never a turn {hello.turn}")
        settings = self.settings[gpu.uuid]
        number = next(self._numbers)
        group = self.groups.enter(session, number, hello)
        has_context = not hello.flags & frames.HelloFlags.NO_CONTEXT
        context = settings.context_of(gpu.memory) if has_context else 0
        member = Member(number, gpu, context, self.now(), group)
        self._strangers.discard(session)
        session.member = member
        self.sessions[number] = session
        self._populations[gpu.uuid] += 1
        self.executor.add(number, session)
        self.extents.enter(number)
        self._give_slot(session, member, hello.slot_key)
        session.decision = decide(
            hello,
            settings,
            self.pods.orders(session.identity).orders,
            self.pods.ceiling(session.identity),
        )
        if hello.flags & frames.HelloFlags.UNDECIDED:
            session.send(client_allocation(session.decision))
        session.send(frames.Welcome(number, self._version))
        if (absence := self.absences.of(gpu)) is not None:
            self.absences.tell(session, absence)
        session.tell_settings(self._tell_settings(gpu))
        self._on_population(len(self.sessions))
        self.footprint.soon()
        return member

    def _tell_settings(self, gpu: Gpu) -> frames.Settings:
        """Send the clients of a GPU their settings, if these have changed; and return them.

        The settings depend on the number of clients.
        """
        told = client_settings(self.settings[gpu.uuid], self._populations[gpu.uuid])
        if told != self._told.get(gpu.uuid):
            self._told[gpu.uuid] = told
            for session in self.sessions_of(gpu):
                session.tell_settings(told)
        return told

    def _give_slot(self, session: Session, member: Member, key: int) -> None:
        """Send a client the quota page of its group, before its WELCOME."""
        place = self.groups.take_slot(member.group, member.gpu.uuid, key, session.take_page())
        if place is not None:
            page, slot, session.slot_key = place
            session.send(frames.Quota(slot, session.slot_key), page.descriptor)

    def leave(self, session: Session) -> None:
        """Forget a connection that has ended."""
        self._strangers.discard(session)
        if session.member is None:
            return
        number, group = session.member.id, session.member.group
        session.peer.depart(session.member.gpu.uuid)
        self.departed[session.member.gpu.uuid].update(self.counts_of(session, self.now()))
        # Before the core decides anything: it can send this client nothing any more.
        self.executor.remove(number)
        self.belief.forget(number)
        self.extents.leave(number)
        del self.sessions[number]
        self._populations[session.member.gpu.uuid] -= 1
        self.dispatch(events.ClientLeft(now=self.now(), client=number))
        self._tell_settings(session.member.gpu)
        self.groups.leave(group, number, session.member.gpu.uuid, session.slot_key)
        if group.sessions:
            self.apply_limits(group, f"end of pid {session.identity.pid}")
        self.headroom.soon()
        self._on_population(len(self.sessions))

    def handed_to(self, member: Member, turn: int) -> int | None:
        """Return the client that a turn was handed over to, if any."""
        next_client = self.executor.handed_to(member.id, turn)
        if next_client is not None:
            self.handovers[member.gpu.uuid] += 1
        return next_client

    def counts_of(self, session: Session, now: float) -> dict[str, int]:
        """Return all counters of a client, for a sum over clients."""
        counts = session.tally.counts(now)
        if session.member is not None:
            spent = self.executor.times.spent(session.member.id, now)
            for part, value in spent.items():
                counts[NAMES[part]] = value
        return counts

    def close(self) -> None:
        """Disconnect all clients. They run on without the daemon."""
        self.executor.close()
        self._forgetting.cancel()
        self._admission.close()
        for session in [*self.sessions.values(), *self._strangers]:
            session.member = None
            session.close("the daemon ends")
        self.groups.close()


def limits_of(core: Core, member: Member) -> ClientLimits:
    """Return the limits in force."""
    return shown_limits(core.client_view(member.id).limits)


@lru_cache(maxsize=256)
def shown_limits(limits: Limits) -> ClientLimits:
    """Return limits as users see them."""
    return ClientLimits.from_core(limits)


def client_allocation(decision: Decision) -> frames.Allocation:
    """Return the allocation kind that a client is told to use."""
    flags = frames.AllocationFlags.MIX if decision.may_mix else frames.AllocationFlags(0)
    return frames.Allocation(decision.kind, flags)
