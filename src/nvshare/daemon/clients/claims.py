"""How much of the memory that clients claim is believed: as much as can be true.

A client that claims memory is given turns, and others make room for it. Memory that it claims to
hold permanently can go to no other client. So a claim counts only as far as it can be true:

* No more than the GPU has; or, where a program may be larger than that, than GPU and host have
  together. No growth beyond the limit of its group: the library would have refused it.
* Pinned and explicit memory is in NVML's figure of the process. A client that claims more of it
  than NVML reports, in two polls in a row, is reported, and counts as if it had none until the two
  agree. The two claims may differ: it is enough that NVML has not found the previous one either.

Managed memory is in no figure of NVML's: a program may have allocated it, and not used it yet. It
is believed up to the bounds above. A client that claims that much gets turns like any other, and is
ordered to move out. If it does not, others wait no longer than the core's patience
(core/moves/room.py).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nvshare.core.events import MemoryChanged
from nvshare.core.memory import Kind, Memory
from nvshare.daemon.clients.client import Client
from nvshare.daemon.executor import Executor
from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.logs import fields
from nvshare.wire import frames

log = logging.getLogger("nvshare.claims")

# NVML counts in pages and blocks of its own, and freed memory leaves its figure a moment later.
_SLACK = 256 << 20


@dataclass(slots=True)
class Claim:
    """A client's last claim, and how much of it is believed."""

    memory: Memory
    # How much of it was believed last.
    believed: int = 0
    # The claim of its process at the last poll, if NVML had not found that much; otherwise 0.
    suspect: int = 0
    caught: bool = False


class Claims:
    """The claims of all clients, by their numbers."""

    def __init__(self, executor: Executor, gpus: Gpus, spare_memory: int) -> None:
        self._executor = executor
        self._gpus = gpus
        self._spare_memory = spare_memory
        self._claims: dict[int, Claim] = {}

    def forget(self, client: int) -> None:
        """Forget a client that has left."""
        self._claims.pop(client, None)

    def of(self, client: Client, said: Memory) -> Memory:
        """Return how much is believed of a client's claim, with its context."""
        claim = self._claims.get(client.id)
        if claim is None:
            # It may come from an earlier daemon, with more than its present limit.
            claim = self._claims[client.id] = Claim(said, said.allocated)
        claim.memory = said
        if claim.caught:
            return Memory().with_context(client.context)
        most = self._most(client)
        limit = client.group.in_force.memory_limit if client.group.in_force else None
        if limit is not None:
            # A lowered limit takes nothing away that the client already has.
            most = min(most, max(limit, claim.believed))
        claim.believed = min(said.allocated, most)
        return replace(said, allocated=claim.believed).with_context(client.context)

    def _most(self, client: Client) -> int:
        gpu = client.gpu
        is_larger = client.hello.flags & frames.HelloFlags.MAY_BE_LARGER
        if is_larger or self._gpus.settings[gpu.uuid].oversubscribe:
            return gpu.memory + self._spare_memory
        return gpu.memory

    def judge(self, found: Mapping[int, int], processes: Mapping[int, Sequence[Client]]) -> None:
        """Compare NVML's figures with the claims, for processes that NVML can see."""
        if not any(pid in found for pid in processes):
            # NVML knows them by other pids, or not at all.
            return
        for pid, clients in processes.items():
            claims = {one.id: c for one in clients if (c := self._claims.get(one.id)) is not None}
            claimed = sum(self._plain(number, claim.memory) for number, claim in claims.items())
            most = found.get(pid, 0) + _SLACK
            for client in clients:
                if client.id in claims:
                    self._judge_one(client, claims[client.id], claimed, most)

    def _judge_one(self, client: Client, claim: Claim, claimed: int, most: int) -> None:
        before, claim.suspect = claim.suspect, claimed if claimed > most else 0
        if claimed <= most:
            if claim.caught:
                claim.caught = False
                self._tell(client, claim)
        elif before <= most:
            # A program reports memory before it has it. NVML has found its previous claim, so it
            # is growing. A false claim may be different each time.
            return
        elif not claim.caught and self._plain(client.id, claim.memory) > 0:
            claim.caught = True
            device, claimed = client.gpu.index, claim.memory.allocated
            log.warning(
                "claims memory that NVML does not show: it counts as if it had none",
                extra=fields(**client.log_fields, device=device, claimed=claimed),
            )
            self._tell(client, claim)

    def _plain(self, client: int, memory: Memory) -> int:
        """Return the part of a claim that NVML counts."""
        kind = self._executor.core.belongings(client).kind
        if kind is Kind.NATIVE:
            return memory.allocated
        moving = memory.swapped if kind is Kind.EXPLICIT else memory.allocated - memory.pinned
        return max(0, memory.allocated - moving)

    def _tell(self, client: Client, claim: Claim) -> None:
        believed, now = self.of(client, claim.memory), self._executor.now()
        self._executor.dispatch(MemoryChanged(now=now, client=client.id, memory=believed))
