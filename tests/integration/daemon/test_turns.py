"""Turns, as clients see them."""

import os
import select
import time

from nvshare.wire import frames
from nvshare.wire.frames import ReleaseReason, Urgency

from .client import Client
from .conftest import Daemon, StartDaemon

GIB = 1 << 30


def test_a_client_that_is_alone_runs_at_once(daemon: Daemon) -> None:
    client = daemon.connect()
    welcome = client.join(daemon.gpus[0])
    assert welcome.client_id == 1
    assert welcome.daemon_version == daemon.control.status().version
    assert client.expect(frames.Grant).turn == 1


def test_clients_that_fit_run_together(daemon: Daemon) -> None:
    for _ in range(4):
        client = daemon.connect()
        client.join(daemon.gpus[0], allocated=2 * GIB)
        client.expect(frames.Grant)
    assert daemon.control.status().devices[0].running == 4


def two_in_turn(daemon: Daemon) -> tuple[Client, Client]:
    """One that holds turn 1, and one that waits for it."""
    holder, waiter = daemon.connect(), daemon.connect()
    gpu = daemon.gpus[0]
    holder.join(gpu)
    holder.want()
    assert holder.expect(frames.Grant).turn == 1
    waiter.join(gpu)
    waiter.want()
    return holder, waiter


def test_one_at_a_time_with_the_daemon_in_between(serial: Daemon) -> None:
    holder, waiter = two_in_turn(serial)
    revoke = holder.expect(frames.Revoke)
    assert (revoke.turn, revoke.urgency) == (1, Urgency.WHEN_IDLE)
    assert waiter.expect(frames.Standby).turn == 2
    # It does not use the socket, as if it had released before HANDOVER arrived.
    holder.release(1)
    assert waiter.expect(frames.Grant).turn == 2


def test_a_turn_is_handed_over_without_the_daemon(serial: Daemon) -> None:
    holder, waiter = two_in_turn(serial)
    holder.expect(frames.Revoke)
    handover = holder.expect(frames.Handover)
    standby = waiter.expect(frames.Standby)
    assert (handover.turn, handover.next_turn, standby.turn) == (1, 2, 2)
    ours, theirs = holder.take_descriptor(), waiter.take_descriptor()

    assert not select.select([theirs], [], [], 0)[0]
    os.write(ours, b"1")
    assert select.select([theirs], [], [], 0)[0]

    holder.release(1, handed_turn=2, wants=1)
    assert waiter.expect(frames.Grant).turn == 2
    assert waiter.expect(frames.Revoke).turn == 2
    status = serial.control.status()
    assert (status.devices[0].turn_changes, status.devices[0].handovers) == (1, 1)
    assert [client.state for client in status.clients] == ["waiting", "running"]
    os.close(ours)
    os.close(theirs)


def test_a_claim_to_have_handed_over_what_was_never_ordered_is_ignored(serial: Daemon) -> None:
    holder, waiter = two_in_turn(serial)
    waiter.expect(frames.Standby)
    holder.release(1, handed_turn=77)
    assert waiter.expect(frames.Grant).turn == 2
    gpu = serial.control.status().devices[0]
    assert (gpu.turn_changes, gpu.handovers) == (1, 0)


def test_the_turn_ends_by_the_clock(start_daemon: StartDaemon) -> None:
    daemon = start_daemon("--mode=serial", "--turn=0.05")
    holder, waiter = two_in_turn(daemon)
    kinds = {holder.expect(frames.Revoke).urgency}
    holder.expect(frames.Handover)
    kinds.add(holder.expect(frames.Revoke).urgency)
    assert kinds == {Urgency.WHEN_IDLE, Urgency.NOW}
    waiter.expect(frames.Standby)
    holder.release(1, reason=ReleaseReason.TOLD, wants=1)
    assert waiter.expect(frames.Grant).turn == 2


def test_when_the_waiter_goes_the_holder_keeps_its_turn(serial: Daemon) -> None:
    holder, waiter = two_in_turn(serial)
    holder.expect(frames.Revoke)
    holder.expect(frames.Handover)
    waiter.close()
    assert holder.expect(frames.Keep).turn == 1


def test_memory_that_does_not_fit_is_moved_out(daemon: Daemon) -> None:
    gpu = daemon.gpus[0]
    first, second = daemon.connect(), daemon.connect()
    first.join(gpu, allocated=10 * GIB)
    first.want()
    first.expect(frames.Grant)
    second.join(gpu, allocated=10 * GIB, swapped_out=10 * GIB)
    second.want()
    revoke = first.expect(frames.Revoke)
    assert 5 * GIB < revoke.evict_bytes <= 10 * GIB
    first.release(1, allocated=10 * GIB, swapped_out=10 * GIB, moved_bytes=10 * GIB, moved_ns=10**9)
    second.expect(frames.Standby)
    second.expect(frames.Grant)
    shown = {c.id: c for c in daemon.control.status().clients}
    assert (shown[1].moved_out, shown[1].swapped_out) == (10 * GIB, 10 * GIB)
    assert shown[2].waited_seconds > 0


def test_who_asks_for_memory_hears_how_much_others_have_to_move_out(daemon: Daemon) -> None:
    gpu = daemon.gpus[0]
    first, second = daemon.connect(), daemon.connect()
    for client in (first, second):
        client.join(gpu, allocated=6 * GIB)
        client.expect(frames.Grant)
    first.send(frames.Memory(7 * GIB, 0, 0, ticket=1))
    answer = first.expect(frames.Answer)
    assert (answer.ticket, answer.verdict, answer.missing) == (1, frames.Verdict.YES, 0)
    first.send(frames.Memory(10 * GIB, 0, 0, ticket=2))
    answer = first.expect(frames.Answer)
    revoke = second.expect(frames.Revoke)
    assert revoke.urgency is Urgency.NOW
    assert answer.missing == revoke.evict_bytes > 1 * GIB


def test_who_computes_all_the_time_takes_short_turns(daemon: Daemon) -> None:
    daemon.control.change_devices("all", {"lab": {"slice_seconds": 0.02}})
    first, second = daemon.connect(), daemon.connect()
    for client in (first, second):
        client.join(daemon.gpus[0], allocated=2 * GIB)
        client.expect(frames.Grant)
    # They claim to have been busy for a second longer each time.
    for busy in (1, 2):
        for client in (first, second):
            client.send(frames.Usage(busy_ns=busy * 10**9, launches=1, throttled_ns=0, gpu_ns=0))
        time.sleep(0.03)
    revoke = second.expect(frames.Revoke)
    assert (revoke.urgency, revoke.evict_bytes) == (Urgency.NOW, 0)
    second.release(revoke.turn, reason=ReleaseReason.TOLD, wants=1, allocated=2 * GIB)
    # It gets a soft revoke, and a revoke when its turn is over. On a slow machine the soft revoke
    # may be missing.
    while not isinstance(order := first.receive(), frames.Revoke) or order.idle_us:
        assert isinstance(order, frames.Settings | frames.Revoke | frames.Handover)
    assert (order.urgency, order.evict_bytes) == (Urgency.NOW, 0)
    gpu = daemon.control.status().devices[0]
    assert (gpu.turn_changes, gpu.slices) == (0, 1)


def test_a_client_may_ask_as_it_registers(serial: Daemon) -> None:
    gpu = serial.gpus[0]
    holder, silent, asking = (serial.connect() for _ in range(3))
    holder.join(gpu, flags=frames.HelloFlags.WANTS)
    assert holder.expect(frames.Grant).turn == 1
    silent.join(gpu)
    asking.join(gpu, flags=frames.HelloFlags.WANTS)
    asking.expect(frames.Standby)
    assert silent.is_quiet()


def test_two_gpus_are_independent(serial: Daemon) -> None:
    for gpu in serial.gpus:
        client = serial.connect()
        client.join(gpu, flags=frames.HelloFlags.WANTS)
        assert client.expect(frames.Grant).turn == 1
