"""The host's memory: where what does not fit on the devices of a node goes, and how much may.

All devices share it. On each of them, what all clients have together beyond what fits has to be on
the host at any time, whoever runs; the sum of that must stay below the limit. So a client that asks
for memory may be refused. One that does not ask has it already, and all that is left is to say so.
"""

from nvshare.core.client import Client
from nvshare.core.device import Device
from nvshare.core.effects import Answer, Effect, Report, ReportKind, Verdict
from nvshare.core.events import MemoryChanged
from nvshare.core.state import HostState

GIB = 1 << 30


class Host:
    """Keeps count of what the devices need, and says what is too much."""

    def __init__(self, state: HostState) -> None:
        self.state = state
        self.needs: dict[str, int] = {}
        self.needed = 0

    def set_limit(self, limit: int | None) -> list[Effect]:
        """Let so much leave for the host from now on; None: as much as there is."""
        self.state.limit = limit
        return self._judge("", None)

    def refuse(self, device: Device, client: Client, ask: MemoryChanged) -> list[Effect]:
        """Return the refusal of an ask that would need too much, or nothing if it may be."""
        limit, before = self.state.limit, device.roster.overflow
        more = device.roster.overflow_with(client, ask.memory) - before
        if limit is None or more <= 0 or self.needed + more <= limit:
            client.refused = False
            return []
        answer = Answer(client.id, ask.ticket, Verdict.HOST_FULL)
        if client.refused:
            return [answer]
        client.refused = True
        wanted = ask.memory.allocated - client.memory.allocated
        text = (
            f"was refused {_gib(wanted)}: {_gib(more)} more would have to leave for the host, "
            f"which takes {_gib(self.needed)} of the {_gib(limit)} that host_memory allows; "
            f"end other programs, or raise host_memory"
        )
        return [Report(ReportKind.HOST_FULL, device.state.id, client.id, text), answer]

    def count(self, device: Device, client: int | None) -> list[Effect]:
        """Take note of what a device needs now."""
        name, need = device.state.id, device.roster.overflow
        self.needed += need - self.needs.get(name, 0)
        self.needs[name] = need
        return self._judge(name, client)

    def _judge(self, device: str, client: int | None) -> list[Effect]:
        """Report that the limit is exceeded, once, as that begins."""
        limit, before = self.state.limit, self.state.exceeded
        self.state.exceeded = limit is not None and self.needed > limit
        if limit is None or before or not self.state.exceeded:
            return []
        text = (
            f"{_gib(self.needed)} may have to leave for the host, and host_memory allows "
            f"{_gib(limit)}; end programs, or raise host_memory"
        )
        return [Report(ReportKind.OVERCOMMITTED, device, client, text)]


def _gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB"
