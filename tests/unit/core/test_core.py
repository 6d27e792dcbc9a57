import pytest

from nvshare.core.core import Core
from nvshare.core.effects import Grant
from nvshare.core.events import (
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    Event,
    HostMemoryChanged,
    Timer,
    TimerFired,
    TimerKind,
    Wanted,
)
from nvshare.core.journal.codec import to_json
from nvshare.core.lease import IllegalTransition
from nvshare.core.memory import Memory


@pytest.fixture
def core() -> Core:
    core = Core(check=True)
    for name in ("a", "b"):
        core.handle(DeviceAdded(now=0.0, device=name, usable_bytes=16))
    return core


def join(client: int, device: str, allocated: int = 12) -> ClientJoined:
    return ClientJoined(now=0.0, client=client, device=device, memory=Memory(allocated))


def test_devices_do_not_get_in_each_others_way(core: Core) -> None:
    assert core.handle(join(1, "a")) == [Grant(1, 1)]
    assert core.handle(join(2, "b")) == [Grant(2, 1)]


def test_events_find_the_device_of_their_client(core: Core) -> None:
    core.handle(join(1, "a"))
    core.handle(join(2, "b"))
    core.handle(ClientLeft(now=1.0, client=2))
    assert list(core._devices["a"].roster.clients) == [1]
    assert list(core._devices["b"].roster.clients) == []


def test_a_number_can_be_used_again_on_another_device(core: Core) -> None:
    core.handle(join(1, "a"))
    core.handle(ClientLeft(now=1.0, client=1))
    assert core.handle(join(1, "b")) == [Grant(1, 1)]


def test_nobody_is_on_two_devices_under_one_number(core: Core) -> None:
    core.handle(join(1, "a"))
    with pytest.raises(IllegalTransition):
        core.handle(join(1, "b"))
    core.handle(Wanted(now=1.0, client=1))
    assert list(core._devices["b"].roster.clients) == []


def test_what_one_device_takes_of_the_host_another_one_cannot_have(core: Core) -> None:
    core.handle(HostMemoryChanged(now=0.0, limit=12))
    for client, device in [(1, "a"), (3, "b"), (2, "a"), (4, "b")]:
        memory = Memory(12) if client in (1, 3) else Memory(12, 0, 12, untouched=12)
        core.handle(ClientJoined(now=0.0, client=client, device=device, memory=memory, turn=1))
        core.handle(Wanted(now=0.0, client=client))
    heads = [core._devices[name].state.head for name in ("a", "b")]
    assert heads == [2, 4]
    # The memory that has to leave of client 3 takes all of the host, so none of client 1 can leave.
    end = core._devices["b"].state.alarms[TimerKind.TURN]
    core.handle(TimerFired(now=end, timer=Timer("b", TimerKind.TURN)))
    heads = [core._devices[name].state.head for name in ("a", "b")]
    assert heads == [None, 4]


def test_an_illegal_step_comes_with_the_journal_of_its_client(core: Core) -> None:
    core.handle(join(1, "a"))
    core.handle(join(2, "a"))
    core.handle(ClientLeft(now=1.0, client=1))
    with pytest.raises(IllegalTransition) as caught:
        core.handle(Wanted(now=2.0, client=1))
    assert [line[:40] for line in caught.value.journal] == [
        '{"event": {"type": "ClientJoined", "now"',
        '{"event": {"type": "ClientLeft", "now": ',
    ]


@pytest.mark.parametrize(
    "event",
    [
        join(1, "c"),
        DeviceAdded(now=0.0, device="a", usable_bytes=1),
        TimerFired(now=0.0, timer=Timer("c", TimerKind.TURN)),
    ],
)
def test_a_device_must_exist_and_only_once(core: Core, event: Event) -> None:
    with pytest.raises(ValueError, match="device"):
        core.handle(event)


def test_only_events_are_handled(core: Core) -> None:
    with pytest.raises(TypeError):
        core.handle(Event(now=0.0))


def test_a_core_goes_on_from_a_snapshot(core: Core) -> None:
    for client in (1, 2, 3):
        core.handle(join(client, "a"))
        core.handle(Wanted(now=1.0, client=client))
    twin = Core(core.snapshot(), check=True)
    event = TimerFired(now=40.0, timer=Timer("a", TimerKind.TURN))
    assert twin.handle(event) == core.handle(event)
    assert to_json(twin.snapshot()) == to_json(core.snapshot())


def test_a_snapshot_does_not_change_with_the_core(core: Core) -> None:
    core.handle(join(1, "a"))
    snapshot = core.snapshot()
    before = to_json(snapshot)
    core.handle(join(2, "a"))
    core.handle(Wanted(now=1.0, client=2))
    assert to_json(snapshot) == before
