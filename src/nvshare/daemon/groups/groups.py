"""Which processes belong together, and what they may use together.

A group is a container, or all processes of one `nvshare run`, or else a single process. Limits
belong to the group: on each GPU its processes share them through a quota page (quota_page.py).
"""

import contextlib
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nvshare.daemon.groups.notes import Changes, ChosenLimits, Notes
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.groups.quota_page import Page
from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.identity import Identity
from nvshare.limits.table import LIMITS
from nvshare.settings import ClientLimits
from nvshare.wire import frames

log = logging.getLogger("nvshare.groups")

Source = Literal["environment", "set", "pod", "ceiling"]


@dataclass(frozen=True, slots=True)
class Member:
    """A client, as its group knows it, with the limits that it was started with."""

    identity: Identity
    limits: ClientLimits


@dataclass(eq=False, slots=True)
class Group:
    """Processes with one limit."""

    key: str
    # By the ids of the clients.
    members: dict[int, Member] = field(default_factory=dict)
    ids: tuple[int, ...] = ()
    pids: tuple[int, ...] = ()
    # The limits that its members were started with, combined.
    environment: ClientLimits = field(default_factory=ClientLimits)
    pages: dict[str, Page] = field(default_factory=dict)
    # The limits that users have set. They override the environment of its members.
    chosen: Changes = field(default_factory=dict)
    # Parked by hand. Newcomers are parked as well; a new daemon does not know of it.
    parked: bool = False
    # The limits that its members were last told.
    in_force: ClientLimits | None = None
    # The limits that a ceiling has cut.
    capped: frozenset[str] = frozenset()

    @property
    def identity(self) -> Identity:
        """The identity of its first member: the others are in the same pod and container."""
        return next(iter(self.members.values())).identity

    def add(self, client: int, member: Member) -> None:
        """Add a member."""
        self.members[client] = member
        self._take_stock()

    def remove(self, client: int) -> None:
        """Remove a member."""
        del self.members[client]
        self._take_stock()

    def _take_stock(self) -> None:
        members = self.members.values()
        self.environment = together(one.limits for one in members)
        self.ids = tuple(sorted(self.members))
        self.pids = tuple(sorted({one.identity.pid for one in members}))


class Groups:
    """All groups that have members. ``folder`` keeps the notes for the next daemon."""

    def __init__(self, folder: Path, pods: Pods, own_container: str = "") -> None:
        self._folder = folder
        self._pods = pods
        # A daemon in a container also meets programs of that container: they are not one group.
        self._own_container = own_container
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._chosen = ChosenLimits(folder / "limits.json")
        self._notes = Notes(folder)
        self._groups: dict[str, Group] = {}

    def all(self) -> Iterable[Group]:
        """Every group, in the order of their first members."""
        return self._groups.values()

    def limits(self, group: Group) -> ClientLimits:
        """The limits of a group: set limits override its environment, and its pod overrides both.

        The ceiling of its pod cuts them all; the limits that were cut are noted.
        """
        who, own = group.identity, group.environment.changed(group.chosen)
        asked = self._pods.asked(who, own).normalized()
        limits = self._pods.limits(who, own).normalized()
        group.capped = frozenset(
            one.name for one in LIMITS if getattr(asked, one.name) != getattr(limits, one.name)
        )
        return limits

    def in_force(self, group: Group) -> ClientLimits:
        """Return the limits as computed last: every change is applied immediately."""
        return group.in_force or self.limits(group)

    def sources(self, group: Group) -> dict[str, Source]:
        """Return the source of each limit in force."""
        there = [name for name, value in self.in_force(group) if value is not None]
        if not there and not group.capped:
            return {}
        orders = self._pods.orders(group.identity).orders
        found: dict[str, Source] = {}
        for name in there:
            is_ordered = getattr(orders, name) is not None
            is_set = name in group.chosen
            found[name] = "pod" if is_ordered else "set" if is_set else "environment"
        found.update((name, "ceiling") for name in group.capped)
        return found

    def enter(self, member: Member, client: int, hello: frames.Hello) -> Group:
        """Return the group of a client, or make one."""
        key = key_of(member.identity, hello.group, client, self._own_container)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(key, chosen=self._chosen.of(key))
        group.add(client, member)
        return group

    def awaits_page(self, who: Identity, hello: frames.Hello, device: str) -> bool:
        """Whether members that are still reconnecting have the group's quota page.

        A client that began without that page would not count what they use.
        """
        key = key_of(who, hello.group, 0, self._own_container)
        group = self._groups.get(key)
        has_page = group is not None and device in group.pages
        return not has_page and self._notes.is_out(key, device)

    def take_slot(
        self, group: Group, device: str, key: int, handed: int = -1
    ) -> tuple[Page, int, int] | None:
        """Give a client its slot in the page of its group; None: there is no page, or no slot.

        ``handed`` is the page that the client has from an earlier daemon. This takes ownership.
        """
        try:
            page = self._page(group, device, handed)
            self.limit_page(group, page)
            place = page.take_slot(key)
        except OSError as error:
            log.warning(
                "the processes of a group cannot share their limits: each process is limited by "
                "itself",
                extra=fields(group=group.key, why=error.strerror),
            )
            return None
        return None if place is None else (page, *place)

    def _page(self, group: Group, device: str, handed: int) -> Page:
        """Return the page of a group; the first member to reconnect may have brought it."""
        page = group.pages.get(device)
        if page is not None:
            if handed >= 0:
                os.close(handed)
            return page
        page = Page.take_up(handed) if handed >= 0 else None
        if page is not None and page.file in self._files():
            # A client has presented the page of another group.
            page.close()
            page = None
        group.pages[device] = page = page or Page.make()
        self._notes.add(group.key, device)
        return page

    def _files(self) -> set[tuple[int, int]]:
        return {page.file for group in self._groups.values() for page in group.pages.values()}

    def limit_page(self, group: Group, page: Page) -> None:
        """Write the group's memory limit and its source into a page."""
        limit = self.limits(group).memory_limit
        source = self.sources(group).get("memory_limit")
        if page.inherited is not None and source in (None, "ceiling"):
            # The source of the limit may not have come back yet, or may not be known yet.
            limit = page.inherited if limit is None else min(limit, page.inherited)
        page.name_source(source)
        page.limit = limit

    def leave(self, group: Group, client: int, device: str, key: int) -> None:
        """Forget a client. With the last one, forget the limits that were set for the group.

        After a start of the daemon, other members may still be reconnecting.
        """
        group.remove(client)
        page = group.pages.get(device)
        if page is not None:
            page.free_slot(key)
            if page.is_empty:
                group.pages.pop(device).close()
                self._notes.remove(group.key, device)
        if group.members:
            return
        del self._groups[group.key]
        for page in group.pages.values():
            page.close()
        if not group.pages:
            self._chosen.set(group.key, {})

    def choose(self, group: Group, changes: Mapping[str, Any]) -> None:
        """Set some limits of a group; they have been checked."""
        group.chosen = {**group.chosen, **changes}
        for page in group.pages.values():
            page.inherited = None
        self._chosen.set(group.key, group.chosen)

    def unstored(self, group: Group) -> str:
        """Why a restart of the daemon loses the limits set for a group; empty: it does not."""
        return self._chosen.problem if group.chosen else ""

    def forget_missing(self) -> None:
        """Forget all groups and members that have not reconnected since the daemon started."""
        self._chosen.keep(set(self._groups))
        for group in self._groups.values():
            for page in group.pages.values():
                page.forget_missing()
                self.limit_page(group, page)
        self._notes.keep({(g.key, device) for g in self._groups.values() for device in g.pages})

    def close(self) -> None:
        """Close the pages and leave them as they are: the members and the next daemon use them."""
        for group in self._groups.values():
            for page in group.pages.values():
                page.close()
        self._groups.clear()
        # If nothing is left for the next daemon, the folder goes as well.
        with contextlib.suppress(OSError):
            self._folder.rmdir()


def key_of(who: Identity, token: bytes, client: int, own_container: str) -> str:
    """Return the key that the members of a group share; it is a valid file name."""
    if who.container and who.container != own_container:
        return f"container-{who.container}"
    if any(token):
        return f"run-{who.uid}-{token.hex()}"
    if who.pid:
        return f"process-{who.pid}-{who.started}"
    # A process that we cannot see is known by its connection only.
    return f"client-{client}"


def together(all_limits: Iterable[ClientLimits]) -> ClientLimits:
    """Combine the limits that processes were started with: of each kind the tightest."""
    found = list(all_limits)
    return ClientLimits(
        **{one.name: one.tightest([getattr(own, one.name) for own in found]) for one in LIMITS}
    )
