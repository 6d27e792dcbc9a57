"""The core of a node: routes events to its devices, and keeps the story."""

from nvshare.core.device import Device
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
    TimerFired,
)
from nvshare.core.host import Host
from nvshare.core.invariants import validate
from nvshare.core.lease import IllegalTransition, State
from nvshare.core.state import Snapshot
from nvshare.core.story import Story

STORY_EVENTS = 4096


class Core:
    """All devices of a node. ``handle`` is all there is to it.

    ``check`` validates the state after every event, for tests and for hunting a mistake.
    """

    def __init__(
        self,
        snapshot: Snapshot | None = None,
        *,
        check: bool = False,
        story_events: int = STORY_EVENTS,
    ) -> None:
        start = snapshot or Snapshot()
        self.host = Host(start.host.copy())
        self.devices = {device.state.id: Device(device, self.host.room) for device in start.devices}
        self._homes = {
            client: device for device in self.devices.values() for client in device.roster.clients
        }
        self.story = Story(start, story_events)
        self._check = check

    def handle(self, event: Event) -> list[Effect]:
        """Take one event and return what is to be done, in order.

        An event that its client's state does not allow raises IllegalTransition; one that names
        a device or a policy that does not exist raises ValueError. Neither changes anything.
        """
        try:
            effects = self._route(event)
        except IllegalTransition as error:
            error.story = self.story.about(error.client)
            raise
        self.story.record(event, effects)
        if self.story.page_is_full:
            self.story.turn_page(self.snapshot())
        if self._check:
            validate(self)
        return effects

    def snapshot(self) -> Snapshot:
        """Return a copy of all that the core knows."""
        devices = tuple(device.snapshot() for device in self.devices.values())
        return Snapshot(devices, self.host.state.copy())

    def _route(self, event: Event) -> list[Effect]:
        match event:
            case DeviceAdded():
                return self._add_device(event)
            case ClientJoined():
                return self._join(event)
            case ClientEvent():
                return self._tell_home(event)
            case DeviceEvent():
                return self._tell(self._device(event.device), event)
            case TimerFired():
                return self._tell(self._device(event.timer.device), event)
            case HostMemoryChanged():
                return [*self.host.set_limit(event.limit), *self._restore_all(event.now)]
            case HostRoomChanged():
                return self._change_room(event)
        raise TypeError(f"not an event: {event!r}")

    def _add_device(self, event: DeviceAdded) -> list[Effect]:
        if event.device in self.devices:
            raise ValueError(f"there is a device {event.device} already")
        device = self.devices[event.device] = Device.added(event, self.host.room)
        return device.handle(event)

    def _join(self, event: ClientJoined) -> list[Effect]:
        device = self._device(event.device)
        home = self._homes.get(event.client, device)
        # The home of a client that is there already refuses it.
        effects = self._tell(home, event)
        self._homes[event.client] = device
        return effects

    def _tell_home(self, event: ClientEvent) -> list[Effect]:
        home = self._homes.get(event.client)
        if home is None:
            raise IllegalTransition(event.client, State.GONE, type(event).__name__)
        if isinstance(event, MemoryChanged) and event.ticket:
            client = home.roster.clients[event.client]
            if refusal := self.host.refuse(home, client, event):
                return refusal
        effects = self._tell(home, event)
        if isinstance(event, ClientLeft):
            del self._homes[event.client]
        return effects

    def _tell(self, device: Device, event: Event) -> list[Effect]:
        """Let a device handle an event, and see what it takes of the host after it."""
        effects = device.handle(event)
        client = event.client if isinstance(event, ClientEvent) else None
        answers = [effect for effect in effects if isinstance(effect, Answer)]
        effects = [effect for effect in effects if not isinstance(effect, Answer)]
        effects += self.host.judge(device.state.id, client)
        for other in self.devices.values():
            # What it waits for may have happened here.
            if other.state.is_held_up and other is not device:
                effects += other.restore(event.now)
        return [*effects, *answers]

    def _change_room(self, event: HostRoomChanged) -> list[Effect]:
        homes = ((one, self._homes[one]) for one in event.clients if one in self._homes)
        self.host.set_pool(event, [home.roster.clients[one] for one, home in homes])
        return self._restore_all(event.now)

    def _restore_all(self, now: float) -> list[Effect]:
        return [effect for device in self.devices.values() for effect in device.restore(now)]

    def _device(self, name: str) -> Device:
        if name not in self.devices:
            raise ValueError(f"there is no device {name}")
        return self.devices[name]
