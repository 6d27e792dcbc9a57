"""A client as users see it: the core's view of it, and its counters."""

from typing import Any

from nvshare.daemon.clients.allocation import wish_for
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.frame_values import KINDS
from nvshare.daemon.clients.last_minute import Sample
from nvshare.daemon.groups.apply_limits import shown_limits
from nvshare.daemon.node import Node
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
        self, client: Client, sample: Sample, group_used: int, *, past: bool
    ) -> ClientStatus:
        """Return one client at the moment of a sample; without ``past``, not its last minute."""
        node, now, counters, told = self._node, sample.now, client.counters, client.counters.told
        seen, outlook = node.core.client_summary(client.id), node.core.outlook(client.id)
        asked = (node.gpus.settings[client.gpu.uuid], node.pods.changes, node.pods.ceilings)
        made_of = (seen.limits, client.decision, *asked)
        steady = self._steady.get(client.id, made_of, lambda: _steady(node, client))
        capped = client.group.capped
        return ClientStatus.of_known(
            {
                **steady,
                "user": user_name(client.identity.uid),
                "state": seen.state.value,
                "state_seconds": now - seen.since,
                "connected_seconds": now - client.since,
                "overdue": seen.is_overdue,
                "cannot_drain": seen.cannot_drain,
                "thrashes": node.thrashing.includes(client.gpu, client.id),
                "parked": seen.park.value if seen.park else None,
                "parked_seconds": now - seen.parked_at if seen.park else 0.0,
                # Without the context, which the program did not allocate.
                "allocated": seen.memory.own,
                "pinned": seen.memory.pinned - client.context,
                "pinned_by": client.pinned_by,
                "swapped_out": seen.memory.swapped,
                "context": client.context,
                "kept": seen.kept,
                "stuck": outlook.stuck,
                "stuck_because": outlook.stuck_because,
                "held_up": outlook.is_held_up,
                "held_up_because": outlook.held_up_because,
                "in_gang": seen.in_gang,
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
                "share": seen.share_percent,
                "used_percent": client.history.percents(now),
                "attribution": sample.attribution,
                "recent": client.last_minute.recent(sample) if past else _NO_PAST,
            }
        )

    def forget_others(self) -> None:
        """Forget clients that have not been described since the last call."""
        self._steady.forget_others()


_NO_PAST = Recent()
# All fields, in the order of the JSON.
_EMPTY: dict[str, Any] = dict.fromkeys(ClientStatus.model_fields)


def _steady(node: Node, client: Client) -> dict[str, Any]:
    """Return the fields that change only by a decision, and empty fields for the others."""
    who, decision = client.identity, client.decision
    asked = node.pods.orders(who)
    settings, ceiling = node.gpus.settings[client.gpu.uuid], node.pods.ceiling(who)
    wish = wish_for(client.hello, settings, asked.orders, ceiling)
    return {
        **_EMPTY,
        "id": client.id,
        "device": client.gpu.uuid,
        "pid": who.pid,
        "uid": who.uid,
        "program": who.program,
        "pod": who.pod,
        "container": who.container,
        "pod_name": node.pods.name(who),
        "container_name": asked.name,
        "group": client.group.key,
        "library_version": shown_name(client.hello.library_version),
        "allocation": KINDS[decision.kind].value,
        "allocation_because": decision.because,
        "allocation_next": wish.value if wish.value != decision.wish.value else "",
        "limits": shown_limits(node.core.client_summary(client.id).limits),
    }
