"""A client as users see it: the core's view of it, and the counters of its session."""

from typing import Any

from nvshare.daemon.clients.allocation import wish_for
from nvshare.daemon.clients.frame_values import KINDS
from nvshare.daemon.clients.last_minute import Sample
from nvshare.daemon.clients.session import Session
from nvshare.daemon.node import Member, Node, shown_limits
from nvshare.daemon.status.cache import Cache
from nvshare.daemon.tenants.identity import shown_name
from nvshare.telemetry.snapshot import ClientStatus, Recent
from nvshare.users import user_name


class ClientStatuses:
    """Describes clients for each snapshot."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._steady: Cache[int, dict[str, Any]] = Cache()

    def describe(
        self, session: Session, member: Member, sample: Sample, group_used: int, *, past: bool
    ) -> ClientStatus:
        """Return one client at the moment of a sample; without ``past``, not its last minute."""
        node, now, counters, told = self._node, sample.now, session.counters, session.counters.told
        client, outlook = node.core.client_summary(member.id), node.core.outlook(member.id)
        asked = (node.settings[member.gpu.uuid], node.pods.changes, node.pods.ceilings)
        made_of = (client.limits, session.decision, *asked)
        steady = self._steady.get(member.id, made_of, lambda: _steady(node, session, member))
        capped = member.group.capped
        return ClientStatus.of_known(
            {
                **steady,
                "user": user_name(session.identity.uid),
                "state": client.state.value,
                "state_seconds": now - client.since,
                "connected_seconds": now - member.since,
                "overdue": client.is_overdue,
                "cannot_drain": client.cannot_drain,
                "thrashes": node.thrashing.includes(member.gpu, member.id),
                "parked": client.park.value if client.park else None,
                "parked_seconds": now - client.parked_at if client.park else 0.0,
                # Without the context, which the program did not allocate.
                "allocated": client.memory.own,
                "pinned": client.memory.pinned - member.context,
                "pinned_by": session.pinned_by,
                "swapped_out": client.memory.swapped,
                "context": member.context,
                "kept": client.kept,
                "stuck": outlook.stuck,
                "stuck_because": outlook.stuck_because,
                "held_up": outlook.is_held_up,
                "held_up_because": outlook.held_up_because,
                "in_gang": client.in_gang,
                "gang_waits_for": outlook.waits_for,
                "capped": tuple(sorted(capped)) if capped else (),
                "group_used": group_used,
                "turns": counters.turns,
                "running_seconds": counters.running_until(now),
                "waited_seconds": counters.waited_until(now),
                "longest_wait_seconds": counters.longest_wait_until(now),
                "moved_out": counters.moved_out,
                "moved_in": counters.moved_in,
                "moving_seconds": counters.moving,
                "refusals": sum(counters.refusals.values()),
                "refusals_by": dict(counters.refusals),
                "busy_seconds": told.busy_ns / 1e9,
                "launches": told.launches,
                "throttled_seconds": told.throttled_ns / 1e9,
                "gpu_seconds": told.gpu_ns / 1e9,
                "share": client.share_percent,
                "used_percent": session.history.percents(now),
                "attribution": sample.attribution,
                "recent": session.last_minute.recent(sample) if past else _NO_PAST,
            }
        )

    def forget_others(self) -> None:
        """Forget clients that have not been described since the last call."""
        self._steady.forget_others()


_NO_PAST = Recent()
# All fields, in the order of the JSON.
_EMPTY: dict[str, Any] = dict.fromkeys(ClientStatus.model_fields)


def _steady(node: Node, session: Session, member: Member) -> dict[str, Any]:
    """Return the fields that change only by a decision, and empty fields for the others."""
    who, hello, decision = session.identity, session.hello, session.decision
    if hello is None or decision is None:
        raise ValueError("a member has said hello")
    asked = node.pods.orders(who)
    settings, ceiling = node.settings[member.gpu.uuid], node.pods.ceiling(who)
    wish = wish_for(hello, settings, asked.orders, ceiling)
    return {
        **_EMPTY,
        "id": member.id,
        "device": member.gpu.uuid,
        "pid": who.pid,
        "uid": who.uid,
        "program": who.program,
        "pod": who.pod,
        "container": who.container,
        "pod_name": node.pods.name(who),
        "container_name": asked.name,
        "group": member.group.key,
        "library_version": shown_name(hello.library_version),
        "allocation": KINDS[decision.kind].value,
        "allocation_because": decision.because,
        "allocation_next": wish.value if wish.value != decision.wish.value else "",
        "limits": shown_limits(node.core.client_summary(member.id).limits),
    }
