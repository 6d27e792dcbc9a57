"""Who is where on one device, and what that adds up to: the data of a roster. Decides nothing.

Every sum is kept up to date by ``_count``, which is called with the client as it was and as it
is, so no event needs to look at all clients.
"""

from collections import Counter
from typing import TYPE_CHECKING

from nvshare.core.client import Client
from nvshare.core.hostroom import HostRoom
from nvshare.core.lease import State
from nvshare.core.memory import Load
from nvshare.core.settings import Priority
from nvshare.core.state import DeviceState

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime


class Sums:
    """The clients of a device by what is known of them, and the sums over them.

    Those who wait are in the queue of the roster (roster.py).
    """

    def __init__(
        self,
        state: DeviceState,
        regime: "Regime",
        host: HostRoom | None = None,
    ) -> None:
        self._state = state
        # What clients compete for. Every weight and sum below is by its rules.
        self.regime = regime
        # Shared by all devices.
        self.host = host or HostRoom()
        self.clients: dict[int, Client] = {}
        # Dicts keep the order of arrival: the last one in `running` was granted last.
        self.idle: dict[int, Client] = {}
        self.running: dict[int, Client] = {}
        self.yielding: dict[int, Client] = {}
        # Yielding too, but for so long that others go on without them.
        self.overdue: dict[int, Client] = {}
        # Those of the running who cannot give way, and are left alone for now.
        self.undrained: dict[int, Client] = {}
        # Those of the running who were asked to give way when idle.
        self.soft_revoked: dict[int, Client] = {}
        # Those of the running who were asked to give their turns up after a long rest.
        self.resting: dict[int, Client] = {}
        # Those whose turns were interrupted, and who are to have the rest of them.
        self.interrupted: dict[int, Client] = {}
        # Those whose compute is capped; and those who have not been told their limits.
        self.with_share: dict[int, Client] = {}
        self.untold: dict[int, Client] = {}
        # Those who had work on the device when they last told; and whether who is there together
        # has changed since somebody looked.
        self.active: dict[int, Client] = {}
        self.neighbours_changed = True
        # How many there are of each priority, of those who compete for anything.
        self.classes: Counter[Priority] = Counter()
        # Those who bring memory in, and have no room for all of it or have to be told that they do.
        self.cramped: dict[int, Client] = {}
        # Those who bring memory in ahead of their turns.
        self.fetching: dict[int, Client] = {}
        # Those whose contexts have no room yet.
        self.newcomers: dict[int, Client] = {}
        # Those whose gate is closed, but who have memory on the device.
        self.closed: dict[int, Client] = {}
        # Those whose memory is to be on the host.
        self.parked: dict[int, Client] = {}
        # Those who are beyond their limit.
        self.over: dict[int, Client] = {}
        # Those who copy their memory out themselves.
        self.copied: dict[int, Client] = {}
        # Those who have gained memory in their turns, since somebody looked whether it fits.
        self.grown: dict[int, Client] = {}
        self._clear_sums()

    def _clear_sums(self) -> None:
        self.everyone_load = Load()
        self.waiting_load = Load()
        self.running_load = Load()
        self.yielding_load = Load()
        self.pinned = 0
        # Swappable bytes of all, and what is away of those who are parked; and what those who run,
        # and others, have on the device.
        self.swappable = 0
        self.parked_away = 0
        self.running_bytes = 0
        self.yielding_bytes = 0
        self.closed_bytes = 0
        # What was ordered out, is on the device still, and not in any of the others.
        self.leaving_bytes = 0
        # What counts as swapped, and is on the device still; in none of the others either.
        self.outbound_bytes = 0
        # How many compute all the time.
        self.busy = 0

    def _count(self, client: Client, sign: int) -> None:
        if client.state is State.GONE:
            return
        self.host.count(client, sign)
        self.everyone_load.add(self._claim(client), sign)
        self._count_class(client, sign)
        self.pinned += sign * client.memory.pinned
        self.swappable += sign * client.memory.swappable
        self.outbound_bytes += sign * client.outbound
        self.busy += sign * client.busy
        if client.state is State.RUNNING:
            self.running_load.add(client.weight, sign)
            self.running_bytes += sign * client.present
        elif client.state is State.YIELDING:
            # Who is overdue is not counted with; the driver pages it out.
            if not client.overdue:
                self.yielding_load.add(client.weight, sign)
                self.yielding_bytes += sign * client.inside
                self.leaving_bytes += sign * client.leaving
        else:
            self._count_closed(client, sign)

    def _claim(self, client: Client) -> int:
        """Return what of the capacity is not for others, whether a client runs or not."""
        return self.regime.claim(client) if client.is_away else client.weight

    def _count_class(self, client: Client, sign: int) -> None:
        if not client.is_away:
            self.classes[client.limits.priority] += sign
            if not self.classes[client.limits.priority]:
                del self.classes[client.limits.priority]

    def _count_closed(self, client: Client, sign: int) -> None:
        self.closed_bytes += sign * client.staying
        self.leaving_bytes += sign * client.leaving
        if client.park is not None:
            self.parked_away += sign * (client.memory.swappable - client.staying)
        if client.state is State.WAITING and not client.is_barred:
            self.waiting_load.add(client.weight, sign)
        if sign > 0 and client.staying:
            self.closed[client.id] = client
        else:
            self.closed.pop(client.id, None)
