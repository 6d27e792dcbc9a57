"""Notes about a client in its state: its memory, and how it computes.

Each note changes the client together with the sums. Changes of state are in clients/roster.py.
"""

from collections.abc import Iterable

from nvshare.core.clients.fits import Fitting
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.client import Client


class Notes(Fitting):
    """Notes what is known of clients. Decides nothing."""

    def set_memory(self, client: Client, memory: Memory) -> None:
        """Note a client's present memory."""
        memory = memory.as_kind(client.kind)
        if memory == client.memory:
            return
        gained = memory.swappable - client.memory.swappable
        client.growing |= gained > 0
        if client.state is State.RUNNING or gained < 0:
            self._note_growth(client, gained)
        self._count(client, -1)
        # Host pages go only when memory is freed.
        freed = max(0, client.memory.kept - memory.kept)
        client.memory = memory
        client.outbound = min(client.outbound, memory.swapped)
        client.most_out = min(max(client.most_out - freed, memory.kept), memory.swappable)
        client.surely_out = min(max(0, client.surely_out - freed), client.most_out)
        client.weight = self.regime.weigh(client)
        self._count(client, 1)

    def set_kind(self, client: Client, kind: Kind) -> None:
        """Note that a client uses another allocation kind."""
        self._count(client, -1)
        client.kind = kind
        self._count(client, 1)
        self._note_kind(client)
        # Another part of it may be swappable now.
        self.set_memory(client, client.memory)

    def _note_kind(self, client: Client) -> None:
        self.copied.pop(client.id, None)
        if client.kind.is_copied:
            self.copied[client.id] = client

    def deny_host(self, client: Client) -> None:
        """Note that nothing is kept for a client beyond what it reports, or has out."""
        self._count(client, -1)
        client.most_out = min(client.most_out, max(client.memory.kept, client.hosted))
        client.surely_out = min(client.surely_out, client.most_out)
        client.provided = min(client.provided, client.most_out)
        self._count(client, 1)

    def note_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes of a client are, or will have been, on the host."""
        most = min(max(client.most_out, out), client.memory.swappable)
        if most == client.most_out:
            return
        self._count(client, -1)
        client.most_out = most
        self._count(client, 1)

    def note_surely_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes were on the host at one time, by the client's report."""
        client.surely_out = min(max(client.surely_out, out), client.most_out)

    def forget_growth(self, clients: Iterable[Client]) -> None:
        """Note that there is room for the memory that these have gained."""
        for client in clients:
            client.grown = 0
            self.grown.pop(client.id, None)

    def _note_growth(self, client: Client, gained: int) -> None:
        """Note what a client has gained in its turn. Freed memory is subtracted."""
        client.grown = max(0, client.grown + gained)
        self.grown.pop(client.id, None)
        if client.grown:
            self.grown[client.id] = client

    def set_busy(self, client: Client, busy: bool) -> None:
        """Note whether a client computes all the time."""
        if busy == client.busy:
            return
        self.neighbours_changed = True
        self._count(client, -1)
        client.busy = busy
        client.weight = self.regime.weigh(client)
        self._count(client, 1)

    def set_undrained(self, client: Client, undrained: bool) -> None:
        """Note whether a client cannot give way, and so is not told to."""
        if undrained:
            self.set_busy(client, False)
        self.neighbours_changed = True
        self._count(client, -1)
        client.undrained = undrained
        client.weight = self.regime.weigh(client)
        self._count(client, 1)
        self.undrained.pop(client.id, None)
        if undrained:
            self.undrained[client.id] = client

    def set_active(self, client: Client, active: bool) -> None:
        """Note whether a client has work on the device."""
        if active == client.active:
            return
        client.active = active
        self.active.pop(client.id, None)
        if active:
            self.active[client.id] = client
        self.neighbours_changed = True

    def set_unused(self, client: Client, unused: int) -> None:
        """Note how much gained memory a client has not used when it is told to give way."""
        self._count(client, -1)
        client.unused = unused
        self._count(client, 1)

    def set_evicting(self, client: Client, evicting: int) -> None:
        """Note how much a client is moving out by order."""
        if evicting == client.evicting:
            return
        self._count(client, -1)
        client.evicting = evicting
        self._count(client, 1)

    def set_outbound(self, client: Client, outbound: int) -> None:
        """Note how much swapped memory has not left yet. A holder of a turn has it in."""
        outbound = 0 if client.holds else max(0, min(outbound, client.memory.swapped))
        if outbound == client.outbound:
            return
        self._count(client, -1)
        client.outbound = outbound
        self._count(client, 1)

    def set_missing(self, client: Client, missing: int, told: int) -> None:
        """Note how much of a client's incoming memory has no room, and what it was told of that."""
        client.missing, client.told_missing = missing, told
        self.cramped.pop(client.id, None)
        if missing or told:
            self.cramped[client.id] = client

    def await_room(self, client: Client, ticket: int) -> None:
        """Note that a client waits for room for its context, or with 0 that it does not."""
        client.awaits_room = ticket
        self.newcomers.pop(client.id, None)
        if ticket:
            self.newcomers[client.id] = client

    def offer(self, client: Client, offered: int) -> None:
        """Note how much a client may move out by itself in this turn."""
        if offered > client.offered:
            self._count(client, -1)
            client.offered = offered
            self._count(client, 1)

    def set_trims(self, client: Client, trims: int) -> None:
        """Note how much memory beyond its limit a client has out in its turn."""
        if trims != client.trims:
            self._count(client, -1)
            client.trims = trims
            self._count(client, 1)

    def set_over_limit(self, client: Client, excess: int) -> None:
        """Note how much of a client's memory is beyond its limit."""
        client.over_limit = excess
        if excess:
            self.over[client.id] = client
        else:
            self.over.pop(client.id, None)

    def set_filled(self, client: Client, filled: int | None) -> None:
        """Note how much of its memory a client has in while it holds its turn."""
        if filled == client.filled:
            return
        self._count(client, -1)
        client.filled = filled
        self._count(client, 1)
