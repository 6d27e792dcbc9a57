"""How much is kept on the host, how much more may leave, and how much cannot."""

from nvshare.core.clients.host_room import NOTHING_KEPT, HostRoom, Kept
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.record.device import HostState, Pool
from nvshare.core.record.host_pages import HostPages

GIB = 1 << 30


def make(
    limit: int | None, *clients: Client, **pools: tuple[int, list[int]]
) -> tuple[HostRoom, list[Client]]:
    """Return the host with these clients, and pools by their rooms and members."""
    host = HostRoom(HostState(limit))
    for client in clients:
        host.count(client, NOTHING_KEPT, Kept.of(client))
    for name, (room, members) in pools.items():
        known = [client for client in clients if client.id in members]
        host.set_pool(name, Pool(99, room, dict.fromkeys(members, 0)), known)
    return host, list(clients)


def idle(number: int, size: int, swapped: int = 0, most_out: int = 0) -> Client:
    memory = Memory(size, 0, swapped)
    return Client(number, memory=memory, host_pages=HostPages(most_out, most_out), state=State.IDLE)


def takes(host: HostRoom, *clients: Client) -> list[int]:
    allowance = host.allowance()
    return [allowance.take(client, client.staying) for client in clients]


def test_what_has_been_out_is_kept_and_may_leave_again_at_no_cost() -> None:
    host, (back, new) = make(10, idle(1, 12, most_out=10), idle(2, 12))
    assert host.kept == 10
    assert takes(host, back, new) == [10, 0]
    assert (host.stuck(back), host.stuck(new)) == (2, 12)


def test_what_is_out_already_takes_its_own_pages() -> None:
    host, (client,) = make(10, idle(1, 12, swapped=4, most_out=6))
    assert (client.hosted, client.spare) == (4, 2)
    assert takes(host, client) == [2 + 4]


def test_what_was_never_on_the_device_is_away_and_not_on_the_host() -> None:
    host, (client,) = make(3, idle(1, 12, swapped=8))
    assert (client.hosted, client.booked, host.kept) == (0, 0, 0)
    assert takes(host, client) == [3]


def test_what_was_ordered_out_is_kept_from_then_on() -> None:
    told = idle(1, 12, most_out=2)
    told.moving.evicting = 7
    host, clients = make(10, told, idle(2, 12))
    assert host.kept == 7
    assert takes(host, *clients) == [3, 0]


def test_a_client_is_in_all_its_pools_and_the_node() -> None:
    clients = [idle(1, 12), idle(2, 12), idle(3, 12)]
    host, _ = make(20, *clients, inner=(2, [1]), outer=(9, [1, 2]))
    assert takes(host, *clients) == [2, 7, 11]
    # In any order, the sum is the same.
    assert takes(host, *reversed(clients)) == [12, 8, 0]
    assert [host.left_for(client) for client in clients] == [2, 9, 20]


def test_pages_that_were_made_since_somebody_looked_are_spent() -> None:
    host, (client,) = make(None, idle(1, 12, most_out=3), pool=(5, [1]))
    assert host.left_for(client) == 5
    host.count(client, Kept.of(client), NOTHING_KEPT)
    client.moving.evicting = 7
    host.count(client, NOTHING_KEPT, Kept.of(client))
    assert host.left_for(client) == 5 - (7 - 3)
    # The kernel has charged them by now.
    host.count(client, Kept.of(client), NOTHING_KEPT)
    client.moving.evicting, client.host_pages.most_out, client.host_pages.surely_out = 0, 7, 7
    client.memory = Memory(12, 0, 7)
    host.count(client, NOTHING_KEPT, Kept.of(client))
    host.set_pool("pool", Pool(99, 1, {1: 0}), [client])
    assert host.left_for(client) == 1
    assert takes(host, client) == [1]


def test_where_everything_could_leave_nothing_is_looked_at() -> None:
    host, (client,) = make(12, idle(1, 12), pool=(12, [1]))
    assert not host.is_tight
    assert host.stuck(client) == 0
    host.set_pool("pool", Pool(99, 11, {1: 0}), [client])
    assert host.is_tight
    host.set_pool("pool", None, [])
    assert not host.is_tight
    host.state.limit = 11
    assert host.is_tight


def test_who_is_gone_is_in_no_pool() -> None:
    host, (one, two) = make(None, idle(1, 12), idle(2, 2), pool=(5, [1, 2]))
    host.count(one, Kept.of(one), NOTHING_KEPT)
    host.forget(one)
    assert host.state.pools["pool"].charged == {2: 0}
    assert not host.is_tight
    host.count(two, Kept.of(two), NOTHING_KEPT)
    host.forget(two)
    assert host.state.pools == {}


def test_who_is_named_before_it_joins_brings_what_is_charged_already() -> None:
    host, _ = make(None, pool=(5, [1]))
    client = idle(1, 12, swapped=6, most_out=6)
    host.welcome(client)
    host.count(client, NOTHING_KEPT, Kept.of(client))
    assert host.left_for(client) == 5


def test_why_names_what_is_least() -> None:
    small, free = idle(1, 12 * GIB), idle(2, 12 * GIB, most_out=9 * GIB)
    host, _ = make(20 * GIB, small, free)
    host.set_pool("pool", Pool(4 * GIB, 2 * GIB, {1: 0}), [small])
    assert host.why(small) == (
        "its memory cgroup's limit of 4.0 GiB has 2.0 GiB left; raise that limit"
    )
    assert host.why(free) == (
        "host_memory allows 20.0 GiB, and 9.0 GiB are taken; end programs, or raise host_memory"
    )


def test_a_copy_of_the_state_is_its_own() -> None:
    state = HostState(5, False, {"pool": Pool(9, 5, {1: 2})})
    twin = state.copy()
    twin.pools["pool"].charged[1] = 3
    del twin.pools["pool"]
    assert state.pools["pool"].charged == {1: 2}
