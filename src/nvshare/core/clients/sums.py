"""The sets of clients of one device, and the sums over them: the data of a roster. Decides nothing.

``_count`` keeps every sum up to date. It is called with the client before and after each change, so
no event needs to look at all clients.
"""

from collections import Counter
from typing import TYPE_CHECKING

from nvshare.core.clients.host_room import HostRoom
from nvshare.core.lease import State
from nvshare.core.memory import Load
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.settings import Priority

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime


class Sums:
    """The clients of a device by what is known of them, and the sums over them.

    Waiting clients are in the queue of the roster (clients/roster.py).
    """

    def __init__(
        self,
        state: DeviceState,
        regime: "Regime",
        host: HostRoom | None = None,
    ) -> None:
        self._state = state
        # It says what clients compete for. Every weight and sum below follows its rules.
        self.regime = regime
        # Shared by all devices.
        self.host = host or HostRoom()
        self.clients: dict[int, Client] = {}
        # Dicts keep the order of arrival: the last one in `running` was granted last.
        self.idle: dict[int, Client] = {}
        self.running: dict[int, Client] = {}
        self.yielding: dict[int, Client] = {}
        # Yielding for so long that others go on without them.
        self.overdue: dict[int, Client] = {}
        # Running ones that cannot give way, and are told nothing for now.
        self.undrained: dict[int, Client] = {}
        # Running ones that were asked to give way when idle.
        self.soft_revoked: dict[int, Client] = {}
        # Running ones that were asked to give their turns up after a long rest.
        self.resting: dict[int, Client] = {}
        # Clients whose compute is capped; and clients that have not been told their limits.
        self.with_share: dict[int, Client] = {}
        self.untold: dict[int, Client] = {}
        # Clients that had work on the device by their last report; and whether the clients that
        # work at the same time have changed since the last attribution.
        self.active: dict[int, Client] = {}
        self.neighbours_changed = True
        # The number of competing clients of each priority; and of clients of each user or
        # container that hold the device, or wait for it.
        self.classes: Counter[Priority] = Counter()
        self.tenants: Counter[str] = Counter()
        # Clients with incoming memory that has no room yet, or that have to be told that it has.
        self.cramped: dict[int, Client] = {}
        # Clients whose contexts have no room yet.
        self.newcomers: dict[int, Client] = {}
        # Clients with a closed gate and memory on the device.
        self.closed: dict[int, Client] = {}
        # Clients whose memory is all to be on the host.
        self.parked: dict[int, Client] = {}
        # Clients beyond their limit.
        self.over: dict[int, Client] = {}
        # Clients that copy their memory out themselves.
        self.copied: dict[int, Client] = {}
        # Clients that have gained memory in their turns, not checked yet whether it fits.
        self.grown: dict[int, Client] = {}
        self._clear_sums()

    def _clear_sums(self) -> None:
        self.everyone_load = Load()
        self.waiting_load = Load()
        self.running_load = Load()
        self.yielding_load = Load()
        self.pinned = 0
        # Swappable bytes of all clients; those of parked clients that are away; and the bytes on
        # the device, by state.
        self.swappable = 0
        self.parked_away = 0
        self.running_bytes = 0
        self.yielding_bytes = 0
        self.closed_bytes = 0
        # Bytes that were ordered out and are still on the device. No other sum has them.
        self.leaving_bytes = 0
        # Bytes that count as swapped and are still on the device. No other sum has them either.
        self.outbound_bytes = 0
        # The number of clients that compute all the time.
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
            # An overdue client does not count: the driver pages it out.
            if not client.overdue:
                self.yielding_load.add(client.weight, sign)
                self.yielding_bytes += sign * client.inside
                self.leaving_bytes += sign * client.leaving
        else:
            self._count_closed(client, sign)

    def _claim(self, client: Client) -> int:
        """Return the capacity that a client keeps from others, whether it runs or not."""
        return self.regime.claim(client) if client.is_away else client.weight

    def _count_class(self, client: Client, sign: int) -> None:
        if not client.is_away:
            self.classes[client.limits.priority] += sign
            if not self.classes[client.limits.priority]:
                del self.classes[client.limits.priority]
        if client.holds or (client.state is State.WAITING and not client.is_barred):
            self.tenants[client.tenant] += sign
            if not self.tenants[client.tenant]:
                del self.tenants[client.tenant]

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
