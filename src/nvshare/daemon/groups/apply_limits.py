"""Changes of limits, from whatever source: computed for the group, written, and told to the core.

Memory limits are in the quota pages, where they hold at once. The core tells clients of the others.
"""

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nvshare.core import events
from nvshare.core.settings import Limits
from nvshare.daemon.executor import Executor
from nvshare.daemon.groups.groups import Group, Groups
from nvshare.daemon.groups.names import name_of
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.logs import fields
from nvshare.settings import ClientLimits
from nvshare.telemetry.ceilings import Ceilings
from nvshare.telemetry.pod_orders import PodOrders

log = logging.getLogger("nvshare.node")


class ApplyLimits:
    """Applies the limits of groups when something has changed that they follow from."""

    def __init__(self, executor: Executor, groups: Groups, pods: Pods) -> None:
        self._executor = executor
        self._groups = groups
        self._pods = pods

    def change(self, group: Group, changes: Mapping[str, Any], by: str) -> None:
        """Change the limits of a group, as a user has set them."""
        self._groups.choose(group, changes)
        self.apply(group, by)

    def change_pod(self, uid: str, orders: PodOrders | None) -> None:
        """Note a pod's orders. Programs that outlive their pod keep their limits."""
        self._pods.set(uid, orders)
        if orders is not None:
            for group in [g for g in self._groups.all() if self._pods.uid(g.identity) == uid]:
                self.apply(group, f"pod {orders.namespace}/{orders.name}")

    def change_ceilings(self, ceilings: Ceilings) -> None:
        """Change the ceilings for the programs of pods."""
        self._pods.ceilings = ceilings
        for group in self._groups.all():
            self.apply(group, "ceilings")

    def apply(self, group: Group, by: str) -> None:
        """Apply the present limits of a group. Memory limits hold when this returns."""
        limits = self._groups.limits(group)
        before, group.in_force = group.in_force, limits
        if before is None or before == limits:
            # A newcomer has already been told.
            return
        for page in group.pages.values():
            self._groups.limit_page(group, page)
        for client in list(group.members):
            if limits != shown_limits(self._executor.core.client_view(client).limits):
                now = self._executor.now()
                self._executor.dispatch(
                    events.LimitsChanged(now=now, client=client, limits=limits.for_core())
                )
        words = {"before": before.in_words(), "now": limits.in_words()}
        name = name_of(group, self._pods)
        log.info("limits changed", extra=fields(group=group.key, name=name, by=by, **words))


@lru_cache(maxsize=256)
def shown_limits(limits: Limits) -> ClientLimits:
    """Return limits as users see them."""
    return ClientLimits.from_core(limits)
