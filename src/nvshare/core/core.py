"""The core of a node: routes events to its devices, keeps the journal, and shows what it knows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nvshare.core.device.device import Device
from nvshare.core.effects import Answer, Effect
from nvshare.core.events import (
    ClientEvent,
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    DeviceEvent,
    Event,
    HostMemoryChanged,
    HostRoomChanged,
    MemoryChanged,
    SettingsChanged,
    TimerFired,
    UsageReported,
    Wanted,
)
from nvshare.core.gangs import Gangs
from nvshare.core.host.explain import outlook_of
from nvshare.core.host.host import Host
from nvshare.core.invariants import validate
from nvshare.core.journal.journal import Journal
from nvshare.core.lease import IllegalTransition, State
from nvshare.core.moves.over_limit import Group, groups_to_judge, over_limit_changes
from nvshare.core.record.client import Client
from nvshare.core.record.device import Snapshot
from nvshare.core.shares.report_filter import ReportFilter, is_known, usage_pause
from nvshare.core.view import (
    Belongings,
    ClientSummary,
    ClientView,
    DeviceView,
    Glance,
    Holding,
    HostView,
    Outlook,
    belongings_of,
    glance_at,
    holding_of,
    summary_of,
    view_client,
    view_device,
)

JOURNAL_EVENTS = 4096
# Each round lets a client in, or has memory leave. There are never more than a few.
_ROUNDS = 8


def _is_answer(effect: Effect) -> bool:
    return isinstance(effect, Answer)


class Core:
    """All devices of a node. Only ``handle`` changes them; views show them.

    ``check`` validates the state after every event, for tests and for debugging.
    """

    def __init__(
        self,
        snapshot: Snapshot | None = None,
        *,
        check: bool = False,
        journal_events: int = JOURNAL_EVENTS,
    ) -> None:
        start = snapshot or Snapshot()
        # Private to the core, with all that is reached through them; other code has views.
        self._host = Host(start.host.copy())
        self._devices = {
            device.state.id: Device(device, self._host.room) for device in start.devices
        }
        for device in self._devices.values():
            # Clients of later devices have taken host memory since it was made.
            device.note_host()
        self._homes = {
            client: device for device in self._devices.values() for client in device.roster.clients
        }
        self._gangs = Gangs(self._devices)
        self._reports = ReportFilter()
        self.journal = Journal(start, journal_events)
        self._check = check

    def handle(self, event: Event) -> list[Effect]:
        """Take one event and return its effects, in order.

        An event that its client's state does not allow raises IllegalTransition. An event that
        names an unknown device or policy raises ValueError. Neither changes anything.
        """
        try:
            heard = self._listen(event)
            if heard is None:
                return []
            effects = self._order_across_devices(heard.now, self._route(heard))
        except IllegalTransition as error:
            error.journal = self.journal.about(error.client)
            raise
        self.journal.record(heard, effects)
        if self.journal.page_is_full:
            self.journal.turn_page(self.snapshot())
        if self._check:
            self.validate()
        return effects

    def validate(self) -> None:
        """Raise BrokenInvariant unless everything holds that must hold."""
        validate(self._devices.values(), self._host, self._gangs, self.journal)

    def _order_across_devices(self, now: float, effects: list[Effect]) -> list[Effect]:
        """Order what concerns several devices, because of gangs or of the shared host."""
        more = self._gangs.arrange(now)
        for _ in range(_ROUNDS):
            stale = self._stale()
            if not stale:
                break
            # The host memory that one device takes may change what another one can have.
            for device in stale:
                more += device.restore(now)
            more += self._gangs.arrange(now)
        if not more:
            return effects
        more += self._host.judge("", None)
        return sorted([*map(self._in_time, effects), *more], key=_is_answer)

    def _stale(self) -> list[Device]:
        """Return the devices whose orders were given for another host memory than there is now."""
        return [device for device in self._devices.values() if device.is_stale]

    def _in_time(self, effect: Effect) -> Effect:
        """Correct an answer whose client was told to hold with its gang meanwhile.

        A client that does not run waits for no room: it is not to use the new memory in this turn.
        """
        if not isinstance(effect, Answer) or not effect.missing:
            return effect
        runs = self._find(effect.client)[1].state is State.RUNNING
        return effect if runs else replace(effect, missing=0)

    def _listen(self, event: Event) -> Event | None:
        if isinstance(event, Wanted):
            client = self._home(event).roster.clients[event.client]
            return None if is_known(event, client) else event
        if not isinstance(event, UsageReported):
            return event
        home = self._home(event)
        return self._reports.listen(event, usage_pause(home.state.settings, home.roster))

    def snapshot(self) -> Snapshot:
        """Return a copy of all that the core knows."""
        devices = tuple(device.snapshot() for device in self._devices.values())
        return Snapshot(devices, self._host.state.copy())

    def view(self, device: str) -> DeviceView:
        """Show a device."""
        return view_device(self._device(device))

    def client_view(self, client: int) -> ClientView:
        """Show a known client."""
        return view_client(*self._find(client))

    def client_summary(self, client: int) -> ClientSummary:
        """Show what users see of a known client. That costs much less than a view."""
        return summary_of(self._find(client)[1])

    def belongings(self, client: int) -> Belongings:
        """Show what a known client has. That costs much less than a view."""
        return belongings_of(self._find(client)[1])

    def glance(self, client: int) -> Glance | None:
        """Show what a client does, if it is known. That costs less than a view."""
        home = self._homes.get(client)
        return None if home is None else glance_at(home.roster.clients[client])

    def companions(self) -> Iterator[int]:
        """Return the clients that may wait or lose their turns because of others in their group."""
        return self._gangs.companions()

    def holding(self, client: int) -> Holding | None:
        """Show where a client's memory is, if the client is known."""
        home = self._homes.get(client)
        return None if home is None else holding_of(home, home.roster.clients[client])

    def client_views(self, clients: Iterable[int]) -> list[ClientView]:
        """Show the known ones of these clients."""
        return [self.client_view(client) for client in clients if client in self._homes]

    def outlook(self, client: int) -> Outlook:
        """Show what keeps a client waiting, or its memory stuck. That costs more than a view."""
        device, found = self._find(client)
        outlook, devices = outlook_of(device.roster, found), self._gangs.waits_for(client)
        return replace(outlook, waits_for=devices) if devices else outlook

    @property
    def host_limit(self) -> int | None:
        """What may leave all devices for the host; None: as much as there is."""
        return self._host.state.limit

    def host_view(self) -> HostView:
        """Show what all clients have on the host."""
        clients = [c for device in self._devices.values() for c in device.roster.clients.values()]
        return HostView(
            limit=self._host.state.limit,
            kept=sum(client.host_pages.most_out for client in clients),
            swapped=sum(client.memory.swapped - client.memory.untouched for client in clients),
        )

    def room_in(self, pool: str) -> int | None:
        """Return what could be charged to a memory cgroup now, if it is known."""
        return self._host.room.left(pool)

    def _find(self, client: int) -> tuple[Device, Client]:
        home = self._homes.get(client)
        if home is None:
            raise ValueError(f"there is no client {client}")
        return home, home.roster.clients[client]

    def _route(self, event: Event) -> list[Effect]:
        match event:
            case DeviceAdded():
                return self._add_device(event)
            case ClientJoined():
                return self._join(event)
            case ClientEvent():
                return self._tell_home(event)
            case SettingsChanged():
                return self._change_settings(event)
            case DeviceEvent():
                return self._tell(self._device(event.device), event)
            case TimerFired():
                return self._tell(self._device(event.timer.device), event)
            case HostMemoryChanged():
                return [*self._host.set_limit(event.limit), *self._restore_all(event.now)]
            case HostRoomChanged():
                return self._change_room(event)
        raise TypeError(f"not an event: {event!r}")

    def _add_device(self, event: DeviceAdded) -> list[Effect]:
        if event.device in self._devices:
            raise ValueError(f"the device {event.device} exists already")
        device = self._devices[event.device] = Device.added(event, self._host.room)
        return device.handle(event)

    def _join(self, event: ClientJoined) -> list[Effect]:
        device = self._device(event.device)
        home = self._homes.get(event.client, device)
        # A client that is known already is refused by its home.
        effects = self._tell(home, event)
        self._homes[event.client] = device
        return effects

    def _tell_home(self, event: ClientEvent) -> list[Effect]:
        home = self._home(event)
        groups = groups_to_judge(home.roster, event)
        effects = self._refusal(home, event) or self._tell(home, event)
        if isinstance(event, ClientLeft):
            del self._homes[event.client]
            self._reports.forget(event.client)
        # An answer comes after all effects of the request.
        effects += self._judge_over_limit(home, groups, event.now)
        return sorted(effects, key=_is_answer)

    def _home(self, event: ClientEvent) -> Device:
        home = self._homes.get(event.client)
        if home is None:
            raise IllegalTransition(event.client, State.GONE, type(event).__name__)
        return home

    def _refusal(self, home: Device, event: ClientEvent) -> list[Effect]:
        if not isinstance(event, MemoryChanged) or not event.ticket:
            return []
        return self._host.refuse(home.roster, home.roster.clients[event.client], event)

    def _change_settings(self, event: SettingsChanged) -> list[Effect]:
        device = self._device(event.device)
        groups = groups_to_judge(device.roster, event)
        effects = self._tell(device, event)
        return [*effects, *self._judge_over_limit(device, groups, event.now)]

    def _judge_over_limit(self, device: Device, groups: list[Group], now: float) -> list[Effect]:
        roster = device.roster
        changes = (change for group in groups for change in over_limit_changes(roster, group, now))
        return [effect for change in changes for effect in self._tell(device, change)]

    def _tell(self, device: Device, event: Event) -> list[Effect]:
        """Let a device handle an event, and judge the host memory that it takes afterwards."""
        effects = device.take_down(event)
        # Gangs are formed before the scheduler looks which clients could run.
        self._gangs.heed(event)
        effects += device.follow(event)
        client = event.client if isinstance(event, ClientEvent) else None
        answers = [effect for effect in effects if isinstance(effect, Answer)]
        effects = [effect for effect in effects if not isinstance(effect, Answer)]
        effects += self._host.judge(device.state.id, client)
        for other in self._devices.values():
            # This event may be what the other device waits for.
            if other.state.is_held_up and other is not device:
                effects += other.restore(event.now)
        return [*effects, *answers]

    def _change_room(self, event: HostRoomChanged) -> list[Effect]:
        homes = ((one, self._homes[one]) for one in event.clients if one in self._homes)
        self._host.set_pool(event, [home.roster.clients[one] for one, home in homes])
        return self._restore_all(event.now)

    def _restore_all(self, now: float) -> list[Effect]:
        return [effect for device in self._devices.values() for effect in device.restore(now)]

    def _device(self, name: str) -> Device:
        if name not in self._devices:
            raise ValueError(f"there is no device {name}")
        return self._devices[name]
