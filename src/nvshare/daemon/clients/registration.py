"""How clients come and go: what is told to whom, and in which order.

session.py reads their frames before, between and after.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable

from nvshare.core import events
from nvshare.daemon.clients.allocation import Decision, decide
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.frame_values import KINDS, memory_of, own_limits_of
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.clients.sample_clients import sample
from nvshare.daemon.clients.settings import client_settings
from nvshare.daemon.clients.wait_notice import WaitNotice
from nvshare.daemon.gpus.outages import Outages
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.apply_limits import ApplyLimits
from nvshare.daemon.groups.groups import Member
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.logs import fields
from nvshare.daemon.sockets.connection import Connection
from nvshare.daemon.tenants.identity import Identity
from nvshare.daemon.tenants.peer import Peer
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.telemetry.time.client_time import NAMES
from nvshare.wire import frames

# The highest turn of an earlier daemon that a client may claim: two years of a thousand each
# second. Later turns have higher numbers, and a false claim must not use these up.
_MOST_AHEAD = 1 << 36

log = logging.getLogger("nvshare.session")


class Registration:
    """Registers clients. ``on_joined`` is called for each, ``on_population`` with their number."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        parts: Parts,
        pods: Pods,
        limits: ApplyLimits,
        outages: Outages,
        *,
        version: str,
        max_clients: int,
        on_joined: Callable[[], None],
        on_population: Callable[[int], None],
    ) -> None:
        self._loop = loop
        self.parts = parts
        self._pods = pods
        self._limits = limits
        self._outages = outages
        self._version = version
        self.max_clients = max_clients
        self._on_joined = on_joined
        self._on_population = on_population
        self._numbers = itertools.count(1)
        # By GPU, the settings that its clients were told.
        self._told: dict[str, frames.Settings] = {}

    def awaits_page(self, who: Identity, hello: frames.Hello) -> bool:
        """Whether other members of a client's group are about to bring back their quota page."""
        gpu = self.parts.gpus.of_key(hello.device_uuid)
        return gpu is not None and self.parts.groups.awaits_page(who, hello, gpu.uuid)

    def enter(
        self, identity: Identity, peer: Peer, connection: Connection, hello: frames.Hello
    ) -> Client:
        """Register a client, and begin its accounts. It is told nothing yet."""
        parts, gpu = self.parts, self._gpu_for(hello)
        number, settings = next(self._numbers), parts.gpus.settings[gpu.uuid]
        orders, ceiling = self._pods.orders(identity).orders, self._pods.ceiling(identity)
        decision = decide(hello, settings, orders, ceiling)
        has_context = not hello.flags & frames.HelloFlags.NO_CONTEXT
        client = Client(
            number,
            gpu,
            parts.groups.enter(Member(identity, own_limits_of(hello)), number, hello),
            identity,
            peer,
            hello,
            decision,
            since=parts.executor.now(),
            context=settings.context_of(gpu.memory) if has_context else 0,
            connection=connection,
            wait=WaitNotice(self._loop),
            tell_users=parts.notices.report,
        )
        parts.clients.add(client)
        parts.executor.add(number, client)
        parts.extents.enter(number)
        return client

    def _gpu_for(self, hello: frames.Hello) -> Gpu:
        """Return the GPU of a client; Rejection: it cannot be registered."""
        gpu = self.parts.gpus.of_key(hello.device_uuid)
        if gpu is None:
            text = f"the daemon has no GPU {hello.device_uuid.hex()}; it may be on another node"
            raise Rejection(frames.RejectCode.DEVICE, text)
        if len(self.parts.clients) >= self.max_clients:
            text = f"there are {len(self.parts.clients)} clients already, which is max_clients"
            raise Rejection(frames.RejectCode.FULL, text)
        if hello.turn > self.parts.executor.core.view(gpu.uuid).last_turn + _MOST_AHEAD:
            raise Rejection(frames.RejectCode.PROTOCOL, f"there was never a turn {hello.turn}")
        return gpu

    def welcome(self, client: Client) -> None:
        """Tell a client what it has to know, and the core about the client."""
        self._give_slot(client)
        if client.hello.flags & frames.HelloFlags.UNDECIDED:
            client.send(client_allocation(client.decision))
        client.send(frames.Welcome(client.id, self._version))
        if (outage := self._outages.of(client.gpu)) is not None:
            client.send(frames.Notice(outage.notice))
        self.tell_settings(client.gpu, client)
        self._on_population(len(self.parts.clients))
        self._on_joined()
        running = self._tell_core(client)
        client.last_minute.note(sample(self.parts.executor, client, client.since))
        log.info(
            "client joined",
            extra=fields(**client.log_fields, device=client.gpu.index, resumed=running or None),
        )
        # Its environment may change the limits of the other members.
        self._limits.apply(client.group, f"environment of pid {client.identity.pid}")

    def _tell_core(self, client: Client) -> bool:
        """Tell the core that a client has joined; return whether it is running already."""
        parts, hello = self.parts, client.hello
        running = bool(hello.flags & frames.HelloFlags.RESUMING)
        if running:
            client.counters.running_since = client.since
        returns, doubted = client.peer.arrive(client.gpu.uuid, resumes=running)
        kind = KINDS[client.decision.kind]
        # Before the core decides what it may move out.
        parts.headroom.enter(client.id, client.identity.pid, kind)
        parts.executor.dispatch(
            events.ClientJoined(
                now=client.since,
                client=client.id,
                device=client.gpu.uuid,
                memory=parts.claims.of(client, memory_of(hello)),
                kind=kind,
                running=running,
                turn=hello.turn,
                ungranted=bool(hello.flags & frames.HelloFlags.UNGRANTED),
                limits=parts.groups.limits(client.group).for_core(),
                group=client.group.key,
                parked=client.group.parked,
                can_hold=bool(hello.flags & frames.HelloFlags.CAN_HOLD),
                owner=client.peer.owner,
                returns=returns,
                doubted=doubted,
            )
        )
        return running

    def tell_settings(self, gpu: Gpu, newcomer: Client | None = None) -> None:
        """Send the clients of a GPU their settings, if these have changed; a newcomer always.

        The settings depend on the number of clients.
        """
        clients = self.parts.clients.of(gpu)
        told = client_settings(self.parts.gpus.settings[gpu.uuid], len(clients))
        if told != self._told.get(gpu.uuid):
            self._told[gpu.uuid] = told
            for client in clients:
                client.send(told)
        elif newcomer is not None:
            newcomer.send(told)

    def _give_slot(self, client: Client) -> None:
        """Send a client the quota page of its group, before its WELCOME."""
        page, key = client.connection.take_descriptor(), client.hello.slot_key
        place = self.parts.groups.take_slot(client.group, client.gpu.uuid, key, page)
        if place is not None:
            quota_page, slot, client.slot_key = place
            client.send(frames.Quota(slot, client.slot_key), quota_page.descriptor)

    def leave(self, client: Client) -> None:
        """Forget a client whose connection has ended."""
        parts, gpu, number = self.parts, client.gpu, client.id
        now = parts.executor.now()
        client.peer.depart(gpu.uuid)
        departed = parts.clients.departed[gpu.uuid]
        departed.update(client.counters.counts(now))
        spent = parts.executor.times.spent(number, now)
        departed.update({NAMES[part]: value for part, value in spent.items()})
        # Before the core decides anything: it can send this client nothing any more.
        parts.executor.remove(number)
        parts.claims.forget(number)
        parts.extents.leave(number)
        parts.headroom.leave(number)
        parts.clients.remove(client)
        parts.executor.dispatch(events.ClientLeft(now=parts.executor.now(), client=number))
        self.tell_settings(gpu)
        parts.groups.leave(client.group, number, gpu.uuid, client.slot_key)
        if client.group.members:
            self._limits.apply(client.group, f"end of pid {client.identity.pid}")
        parts.headroom.soon()
        self._on_population(len(parts.clients))


def client_allocation(decision: Decision) -> frames.Allocation:
    """Return the allocation kind that a client is told to use."""
    flags = frames.AllocationFlags.MIX if decision.may_mix else frames.AllocationFlags(0)
    return frames.Allocation(decision.kind, flags)
