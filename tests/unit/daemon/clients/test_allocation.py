"""How the kind of a program's allocations is decided, and by which settings."""

import pytest

from nvshare.daemon.clients.allocation import decide, wish_for
from nvshare.setting_types import AllocationName
from nvshare.settings import NO_ORDERS, DeviceSettings, Orders
from nvshare.wire.frames import AllocationKind, Hello, HelloFlags, LimitFlags

UNDECIDED = HelloFlags.UNDECIDED
CAN = HelloFlags.CAN_MANAGE | HelloFlags.CAN_MAP
MANAGED, EXPLICIT, NATIVE, MIXED = (
    AllocationKind.MANAGED,
    AllocationKind.EXPLICIT,
    AllocationKind.NATIVE,
    AllocationKind.MIXED,
)
AUTO = DeviceSettings(allocation="auto")


def hello(flags: HelloFlags = UNDECIDED | CAN, kind: AllocationKind = MANAGED) -> Hello:
    return Hello(
        bytes(16), kind, flags, 0, 0, 0, 0, 0, LimitFlags(0), 0, bytes(16), "test", 0
    )  # fmt: skip


def test_without_any_wish_it_is_managed() -> None:
    decision = decide(hello(), DeviceSettings(), NO_ORDERS)
    assert (decision.kind, decision.because, decision.may_mix) == (MANAGED, "", False)


def test_a_pod_goes_over_the_environment_and_that_over_the_setting() -> None:
    settings, own = DeviceSettings(allocation="explicit"), UNDECIDED | CAN | HelloFlags.ASKS_NATIVE
    pod = Orders(allocation="managed")
    found = [
        decide(hello(), settings, NO_ORDERS),
        decide(hello(own), settings, NO_ORDERS),
        decide(hello(own), settings, pod),
        decide(hello(), settings, pod),
    ]
    assert [(one.kind, one.because) for one in found] == [
        (EXPLICIT, ""),
        (NATIVE, "its environment"),
        (MANAGED, "its pod"),
        (MANAGED, "its pod"),
    ]


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        (HelloFlags.ASKS_MANAGED, "managed"),
        (HelloFlags.ASKS_EXPLICIT, "explicit"),
        (HelloFlags.ASKS_NATIVE, "native"),
        (HelloFlags.ASKS_AUTO, "auto"),
    ],
)
def test_every_wish_of_the_environment_is_heard(flag: HelloFlags, name: str) -> None:
    assert wish_for(hello(CAN | flag), DeviceSettings(), NO_ORDERS).value == name


@pytest.mark.parametrize(
    ("flags", "kind", "because"),
    [
        (CAN, EXPLICIT, "auto: the GPU can map memory"),
        (HelloFlags.CAN_MANAGE, MANAGED, "auto: the GPU cannot map memory"),
        (
            HelloFlags.CAN_MANAGE | HelloFlags.SEVERAL,
            MANAGED,
            "auto: it uses several GPUs",
        ),
        (
            HelloFlags.CAN_MAP,
            EXPLICIT,
            "auto: the GPU has no managed memory that can be moved",
        ),
        (CAN | HelloFlags.MAY_BE_LARGER, MANAGED, "auto: it may need more memory than the GPU has"),
        (HelloFlags(0), NATIVE, "auto: the GPU cannot map memory"),
    ],
)
def test_auto(flags: HelloFlags, kind: AllocationKind, because: str) -> None:
    decision = decide(hello(UNDECIDED | flags), AUTO, NO_ORDERS)
    assert (decision.kind, decision.because) == (kind, because)
    # Only a program that has a choice may change its mind.
    assert decision.may_mix == (kind is EXPLICIT)


def test_a_gpu_that_lets_programs_be_larger_is_for_managed_memory() -> None:
    settings = DeviceSettings(allocation="auto", oversubscribe=True)
    assert decide(hello(), settings, NO_ORDERS).kind is MANAGED


def test_whoever_says_explicit_is_not_given_a_mixture() -> None:
    settings = DeviceSettings(allocation="explicit")
    assert not decide(hello(), settings, NO_ORDERS).may_mix


@pytest.mark.parametrize(
    ("wish", "flags", "kind", "because"),
    [
        ("explicit", HelloFlags.CAN_MANAGE, MANAGED, "not explicit: the GPU cannot map memory"),
        ("explicit", HelloFlags(0), NATIVE, "not explicit: the GPU cannot map memory"),
        (
            "explicit",
            HelloFlags.CAN_MANAGE | HelloFlags.SEVERAL,
            MANAGED,
            "not explicit: it uses several GPUs",
        ),
        ("managed", HelloFlags(0), NATIVE, "the GPU has no managed memory that can be moved"),
        ("managed", HelloFlags.CAN_MAP, NATIVE, "the GPU has no managed memory that can be moved"),
    ],
)
def test_what_cannot_be_is_not_done(
    wish: AllocationName, flags: HelloFlags, kind: AllocationKind, because: str
) -> None:
    decision = decide(hello(UNDECIDED | flags), DeviceSettings(allocation=wish), NO_ORDERS)
    assert (decision.kind, decision.because) == (kind, because)


def test_who_has_decided_is_not_decided_for() -> None:
    kept = decide(hello(CAN, MANAGED), AUTO, NO_ORDERS)
    assert (kept.kind, kept.because) == (MANAGED, "since before this daemon")
    same = decide(hello(CAN, EXPLICIT), AUTO, NO_ORDERS)
    assert (same.kind, same.because) == (EXPLICIT, "auto: the GPU can map memory")
    mixed = decide(hello(CAN, MIXED), AUTO, NO_ORDERS)
    assert (mixed.kind, mixed.because) == (MIXED, "auto: more than the GPU holds at once")
    # A library that is older than this daemon does not say what it can.
    old = decide(hello(HelloFlags(0), MANAGED), DeviceSettings(), NO_ORDERS)
    assert (old.kind, old.because) == (MANAGED, "")


def test_what_changes_later() -> None:
    decision = decide(hello(), AUTO, NO_ORDERS)
    assert decision.changed(MIXED).because == "auto: more than the GPU holds at once"
    assert decision.changed(MANAGED).because == "it uses several GPUs"
