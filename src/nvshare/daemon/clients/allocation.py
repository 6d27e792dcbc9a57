"""How the memory of a program is allocated: decided once, before it allocates any.

The strongest source is the annotation of its pod, then its own environment, then the setting of
the GPU. A pod and its environment may only ask for kinds that their ceiling allows. A kind that the
GPU or the program does not support is never chosen.
"""

from dataclasses import dataclass, replace

from nvshare.setting_types import AllocationName
from nvshare.settings import DeviceSettings, Orders
from nvshare.telemetry.ceilings import NO_CEILING, Ceiling
from nvshare.wire.frames import AllocationKind, Hello, HelloFlags

# Plain numbers are faster: every snapshot looks up every program.
_ASKED: dict[int, AllocationName] = {
    int(HelloFlags.ASKS_MANAGED): "managed",
    int(HelloFlags.ASKS_EXPLICIT): "explicit",
    int(HelloFlags.ASKS_NATIVE): "native",
    int(HelloFlags.ASKS_AUTO): "auto",
}
_SEVERAL = "it uses several GPUs"
_CANNOT_MAP = "the GPU cannot map memory"
_CANNOT_MANAGE = "the GPU has no managed memory that can be moved"


@dataclass(frozen=True, slots=True)
class Wish:
    """A requested kind and its source; an empty source is the setting of the GPU."""

    value: AllocationName
    by: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The kind chosen for a wish, and why; an empty reason: it is the setting's own."""

    kind: AllocationKind
    because: str
    wish: Wish
    # Managed memory may be allocated where explicit memory has no room immediately.
    may_mix: bool = False

    def changed(self, kind: AllocationKind) -> "Decision":
        """Return the decision for a program that allocates differently from now on."""
        because = "auto: more than the GPU holds at once"
        return replace(
            self, kind=kind, because=because if kind is AllocationKind.MIXED else _SEVERAL
        )


def wish_for(
    hello: Hello, settings: DeviceSettings, orders: Orders, ceiling: Ceiling = NO_CEILING
) -> Wish:
    """Return the wish of the strongest source."""
    if orders.allocation is not None and ceiling.allows(orders.allocation):
        return Wish(orders.allocation, "its pod")
    flags = int(hello.flags)
    for flag, name in _ASKED.items():
        if flags & flag and ceiling.allows(name):
            return Wish(name, "its environment")
    return Wish(settings.allocation)


def decide(
    hello: Hello, settings: DeviceSettings, orders: Orders, ceiling: Ceiling = NO_CEILING
) -> Decision:
    """Decide how a program allocates; or explain the kind that it has already chosen."""
    wish = wish_for(hello, settings, orders, ceiling)
    decision = _decide(hello, settings, wish)
    if hello.flags & HelloFlags.UNDECIDED or decision.kind is hello.allocation_kind:
        return decision
    if hello.allocation_kind is AllocationKind.MIXED:
        return decision.changed(AllocationKind.MIXED)
    # It ran without a daemon, or under another one. A library without these flags is too old to
    # tell.
    says = hello.flags & (HelloFlags.CAN_MANAGE | HelloFlags.CAN_MAP)
    return Decision(hello.allocation_kind, "since before this daemon" if says else "", wish)


def _decide(hello: Hello, settings: DeviceSettings, wish: Wish) -> Decision:
    if wish.value == "auto":
        may_be_larger = settings.oversubscribe or bool(hello.flags & HelloFlags.MAY_BE_LARGER)
        kind, because = _choose(hello.flags, may_be_larger)
        is_explicit = kind is AllocationKind.EXPLICIT
        return Decision(kind, f"auto: {because}", wish, may_mix=is_explicit)
    if wish.value == "native":
        return Decision(AllocationKind.NATIVE, wish.by, wish)
    if wish.value == "explicit":
        if hello.flags & HelloFlags.CAN_MAP:
            return Decision(AllocationKind.EXPLICIT, wish.by, wish)
        return Decision(_next_best(hello.flags), f"not explicit: {_why_not(hello.flags)}", wish)
    kind = _next_best(hello.flags)
    return Decision(kind, wish.by if kind is AllocationKind.MANAGED else _CANNOT_MANAGE, wish)


def _choose(flags: HelloFlags, may_be_larger: bool) -> tuple[AllocationKind, str]:
    if not flags & HelloFlags.CAN_MAP:
        return _next_best(flags), _why_not(flags)
    if not flags & HelloFlags.CAN_MANAGE:
        return AllocationKind.EXPLICIT, _CANNOT_MANAGE
    if may_be_larger:
        return AllocationKind.MANAGED, "it may need more memory than the GPU has"
    return AllocationKind.EXPLICIT, "the GPU can map memory"


def _next_best(flags: HelloFlags) -> AllocationKind:
    managed = flags & HelloFlags.CAN_MANAGE
    return AllocationKind.MANAGED if managed else AllocationKind.NATIVE


def _why_not(flags: HelloFlags) -> str:
    return _SEVERAL if flags & HelloFlags.SEVERAL else _CANNOT_MAP
