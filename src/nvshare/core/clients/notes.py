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
        client.growth.change(gained, in_turn=client.state is State.RUNNING)
        # Host pages go only when memory is freed.
        freed = max(0, client.memory.kept - memory.kept)
        client.memory = memory
        client.moving.note_outbound(min(client.moving.outbound, memory.swapped))
        client.host_pages.free(freed, memory.kept, memory.swappable)
        self.note(client)

    def set_kind(self, client: Client, kind: Kind) -> None:
        """Note that a client uses another allocation kind."""
        client.kind = kind
        self.note(client)
        # Another part of it may be swappable now.
        self.set_memory(client, client.memory)

    def deny_host(self, client: Client) -> None:
        """Note that nothing is kept for a client beyond what it reports, or has out."""
        client.host_pages.deny(max(client.memory.kept, client.hosted))
        self.note(client)

    def note_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes of a client are, or will have been, on the host."""
        most = min(max(client.host_pages.most_out, out), client.memory.swappable)
        if most == client.host_pages.most_out:
            return
        client.host_pages.note_out(most)
        self.note(client)

    def note_surely_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes were on the host at one time, by the client's report."""
        client.host_pages.note_surely_out(out)

    def forget_growth(self, clients: Iterable[Client]) -> None:
        """Note that there is room for the memory that these have gained."""
        for client in clients:
            client.growth.fit()
            self.note(client)

    def set_busy(self, client: Client, busy: bool) -> None:
        """Note whether a client computes all the time."""
        if busy == client.work.busy:
            return
        self.neighbours_changed = True
        client.work.note_busy(busy=busy)
        self.note(client)

    def set_undrained(self, client: Client, undrained: bool) -> None:
        """Note whether a client cannot give way, and so is not told to."""
        if undrained:
            self.set_busy(client, False)
        self.neighbours_changed = True
        client.drain.note_undrained(undrained=undrained)
        self.note(client)

    def set_active(self, client: Client, active: bool) -> None:
        """Note whether a client has work on the device."""
        if active == client.work.active:
            return
        client.work.note_active(active=active)
        self.neighbours_changed = True
        self.note(client)

    def set_unused(self, client: Client, unused: int) -> None:
        """Note how much gained memory a client has not used when it is told to give way."""
        client.growth.leave_unused(unused)
        self.note(client)

    def set_evicting(self, client: Client, evicting: int) -> None:
        """Note how much a client is moving out by order."""
        if evicting == client.moving.evicting:
            return
        client.moving.order(evicting)
        self.note(client)

    def set_outbound(self, client: Client, outbound: int) -> None:
        """Note how much swapped memory has not left yet. A holder of a turn has it in."""
        outbound = 0 if client.has_turn else max(0, min(outbound, client.memory.swapped))
        if outbound == client.moving.outbound:
            return
        client.moving.note_outbound(outbound)
        self.note(client)

    def set_missing(self, client: Client, missing: int, told: int) -> None:
        """Note how much of a client's incoming memory has no room, and what it was told of that."""
        client.moving.lack(missing, told)
        self.note(client)

    def await_room(self, client: Client, ticket: int) -> None:
        """Note that a client waits for room for its context, or with 0 that it does not."""
        client.moving.await_room(ticket)
        self.note(client)

    def offer(self, client: Client, offered: int) -> None:
        """Note how much a client may move out by itself in this turn."""
        if offered > client.moving.offered:
            client.moving.offer(offered)
            self.note(client)

    def set_trims(self, client: Client, trims: int) -> None:
        """Note how much memory beyond its limit a client has out in its turn."""
        if trims != client.excess.trims:
            client.excess.note_trims(trims)
            self.note(client)

    def set_over_limit(self, client: Client, excess: int) -> None:
        """Note how much of a client's memory is beyond its limit."""
        client.excess.note(excess)
        self.note(client)

    def set_filled(self, client: Client, filled: int | None) -> None:
        """Note how much of its memory a client has in while it holds its turn."""
        if filled == client.moving.filled:
            return
        client.moving.fill(filled)
        self.note(client)
