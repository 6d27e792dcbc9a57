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
from typing import TYPE_CHECKING

from nvshare.core.events import MemoryChanged
from nvshare.core.memory import Kind, Memory
from nvshare.daemon.logs import fields
from nvshare.wire import frames

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.gpus.survey import Gpu
    from nvshare.daemon.node import Member, Node

log = logging.getLogger("nvshare.belief")

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

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._claims: dict[int, Claim] = {}

    def forget(self, client: int) -> None:
        """Forget a client that has left."""
        self._claims.pop(client, None)

    def of(self, session: "Session", member: "Member", said: Memory) -> Memory:
        """Return how much is believed of a client's claim, with its context."""
        claim = self._claims.get(member.id)
        if claim is None:
            # It may come from an earlier daemon, with more than its present limit.
            claim = self._claims[member.id] = Claim(said, said.allocated)
        claim.memory = said
        if claim.caught:
            return Memory().with_context(member.context)
        most = self._most(session, member)
        limit = member.group.in_force.memory_limit if member.group.in_force else None
        if limit is not None:
            # A lowered limit takes nothing away that the client already has.
            most = min(most, max(limit, claim.believed))
        claim.believed = min(said.allocated, most)
        return replace(said, allocated=claim.believed).with_context(member.context)

    def _most(self, session: "Session", member: "Member") -> int:
        hello, gpu = session.hello, member.gpu
        is_larger = hello is not None and hello.flags & frames.HelloFlags.MAY_BE_LARGER
        if is_larger or self._node.settings[gpu.uuid].oversubscribe:
            return gpu.memory + self._node.spare_memory
        return gpu.memory

    def judge(
        self, gpu: "Gpu", found: Mapping[int, int], processes: "Mapping[int, Sequence[Member]]"
    ) -> None:
        """Compare NVML's figures with the claims, for processes that NVML can see."""
        if not any(pid in found for pid in processes):
            # NVML knows them by other pids, or not at all.
            return
        for pid, members in processes.items():
            claims = {one.id: c for one in members if (c := self._claims.get(one.id)) is not None}
            claimed = sum(self._plain(client, claim.memory) for client, claim in claims.items())
            most = found.get(pid, 0) + _SLACK
            for member in members:
                if member.id in claims:
                    self._judge_one(gpu, member, claims[member.id], claimed, most)

    def _judge_one(
        self, gpu: "Gpu", member: "Member", claim: Claim, claimed: int, most: int
    ) -> None:
        before, claim.suspect = claim.suspect, claimed if claimed > most else 0
        if claimed <= most:
            if claim.caught:
                claim.caught = False
                self._tell(member, claim)
        elif before <= most:
            # A program reports memory before it has it. NVML has found its previous claim, so it
            # is growing. A false claim may be different each time.
            return
        elif not claim.caught and self._plain(member.id, claim.memory) > 0:
            claim.caught = True
            session = self._node.sessions[member.id]
            log.warning(
                "claims memory that NVML does not show: it counts as if it had none",
                extra=fields(
                    **session.log_fields, device=gpu.index, claimed=claim.memory.allocated
                ),
            )
            self._tell(member, claim)

    def _plain(self, client: int, memory: Memory) -> int:
        """Return the part of a claim that NVML counts."""
        kind = self._node.core.belongings(client).kind
        if kind is Kind.NATIVE:
            return memory.allocated
        moving = memory.swapped if kind is Kind.EXPLICIT else memory.allocated - memory.pinned
        return max(0, memory.allocated - moving)

    def _tell(self, member: "Member", claim: Claim) -> None:
        believed = self.of(self._node.sessions[member.id], member, claim.memory)
        self._node.dispatch(MemoryChanged(now=self._node.now(), client=member.id, memory=believed))
