"""Turns frames of a registered client into the core's events: one function per type of frame.

nvshare.core decides what follows from them, and executor.py tells the clients.
"""

import logging
from dataclasses import asdict
from typing import Any

from nvshare.core import events
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.counters import Report
from nvshare.daemon.clients.frame_values import KINDS, memory_of
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.wire import frames

log = logging.getLogger("nvshare.session")

_REASONS = {
    frames.ReleaseReason.IDLE: events.Reason.IDLE,
    frames.ReleaseReason.TOLD: events.Reason.TOLD,
    frames.ReleaseReason.USED_UP: events.Reason.USED_UP,
}


def _allocates(parts: Parts, client: Client, frame: frames.Allocates) -> None:
    client.decision = client.decision.changed(frame.allocation_kind)
    kind = KINDS[frame.allocation_kind]
    parts.executor.dispatch(
        events.KindChanged(now=parts.executor.now(), client=client.id, kind=kind)
    )
    log.info("client allocates in another way", extra=fields(**client.log_fields, kind=kind.value))


def _pinned(parts: Parts, client: Client, frame: frames.Pinned) -> None:
    """Note it for users; decisions use the sum, which comes with MEMORY."""
    del parts
    client.pinned_by = {name: value for name, value in asdict(frame).items() if value}


def _hello_again(parts: Parts, client: Client, frame: frames.Hello) -> None:
    del parts, client, frame
    raise Rejection(frames.RejectCode.PROTOCOL, "HELLO came twice")


def _want(parts: Parts, client: Client, frame: frames.Want) -> None:
    now = parts.executor.now()
    _begin_wait(parts, client, now)
    parts.executor.dispatch(events.Wanted(now=now, client=client.id, turn=frame.turn))


def _released(parts: Parts, client: Client, frame: frames.Released) -> None:
    now = parts.executor.now()
    seconds = frame.moved_ns / 1e9
    _count_moved(client, frame.moved_bytes, 0, seconds)
    client.counters.end_turn(now)
    parts.headroom.note_left(client.id, frame.left)
    if frame.wants:
        _begin_wait(parts, client, now)
    parts.executor.dispatch(
        events.Released(
            now=now,
            client=client.id,
            turn=frame.turn,
            reason=_REASONS[frame.reason],
            memory=parts.claims.of(client, memory_of(frame)),
            wants=bool(frame.wants),
            moved_bytes=frame.moved_bytes,
            seconds=seconds,
            handed_to=_handed_to(parts, client, frame.handed_turn),
            handed_turn=frame.handed_turn,
            left=frame.left,
        )
    )


def _cannot_drain(parts: Parts, client: Client, frame: frames.CannotDrain) -> None:
    if frame.number and not parts.executor.is_answer(client.id, frame.number):
        return
    log.info(
        "client cannot give way",
        extra=fields(**client.log_fields, turn=frame.turn, reason=frame.reason.name.lower()),
    )
    now = parts.executor.now()
    parts.executor.dispatch(events.CannotDrain(now=now, client=client.id, turn=frame.turn))


def _can_drain(parts: Parts, client: Client, frame: frames.CanDrain) -> None:
    now = parts.executor.now()
    parts.executor.dispatch(events.CanDrain(now=now, client=client.id, turn=frame.turn))


def _held(parts: Parts, client: Client, frame: frames.Held) -> None:
    # It may have crossed with the frame that ended the hold.
    if not parts.executor.is_answer(client.id, frame.number):
        return
    now = parts.executor.now()
    parts.executor.dispatch(
        events.Held(now=now, client=client.id, turn=frame.turn, waits=bool(frame.waits))
    )


def _memory(parts: Parts, client: Client, frame: frames.Memory) -> None:
    parts.executor.dispatch(
        events.MemoryChanged(
            now=parts.executor.now(),
            client=client.id,
            memory=parts.claims.of(client, memory_of(frame)),
            ticket=frame.ticket,
        )
    )
    parts.headroom.soon()


def _context(parts: Parts, client: Client, frame: frames.Context) -> None:
    """Have room made for a context, which cannot leave once it is there."""
    gpu = client.gpu
    one = parts.gpus.settings[gpu.uuid].context_of(gpu.memory)
    if frame.ticket:
        client.context_ticket, client.context_before = frame.ticket, client.context
        context = client.context + one if frame.has_context else max(client.context, one)
    else:
        # A context that was refused is not there.
        context = max(client.context_before, one) if frame.has_context else 0
    memory = parts.executor.core.client_view(client.id).memory.with_context(context)
    # A refusal comes before this returns, through answered().
    client.context = context
    parts.executor.dispatch(
        events.MemoryChanged(
            now=parts.executor.now(),
            client=client.id,
            memory=memory,
            ticket=frame.ticket,
            for_context=bool(frame.ticket),
        )
    )


def _moved(parts: Parts, client: Client, frame: frames.Moved) -> None:
    seconds = frame.ns / 1e9
    _count_moved(client, frame.out_bytes, frame.in_bytes, seconds)
    parts.headroom.note_left(client.id, frame.left)
    parts.executor.dispatch(
        events.Moved(
            now=parts.executor.now(),
            client=client.id,
            turn=frame.turn,
            memory=parts.claims.of(client, memory_of(frame)),
            out_bytes=frame.out_bytes,
            in_bytes=frame.in_bytes,
            seconds=seconds,
            left=frame.left,
        )
    )


def _usage(parts: Parts, client: Client, frame: frames.Usage) -> None:
    before = client.counters.told
    now = parts.executor.now()
    report = Report(frame.busy_ns, frame.launches, frame.throttled_ns, frame.gpu_ns)
    client.counters.tell(report, round((now - client.since) * 1e9))
    # Beside others, a program bills its share for its own part, which is less than it measures.
    client.used_ns += (frame.gpu_ns - before.gpu_ns) or (frame.busy_ns - before.busy_ns)
    client.history.note(now, client.used_ns / 1e9)
    parts.executor.dispatch(
        events.UsageReported(
            now=now,
            client=client.id,
            busy_seconds=frame.busy_ns / 1e9,
            throttled_seconds=frame.throttled_ns / 1e9,
        )
    )


def _refused(parts: Parts, client: Client, frame: frames.Refused) -> None:
    del parts
    client.counters.tell_refusals(frame.over_limit, frame.over_gpu)


def _host(parts: Parts, client: Client, frame: frames.Host) -> None:
    parts.extents.report(client.id, frame)


def _ping(parts: Parts, client: Client, frame: frames.Ping) -> None:
    del parts
    client.send(frames.Pong(frame.number))


def _begin_wait(parts: Parts, client: Client, now: float) -> None:
    client.counters.begin_wait(now)
    parts.notices.begin_wait(client)


def _handed_to(parts: Parts, client: Client, turn: int) -> int | None:
    """Return the client that a turn was handed over to, if any."""
    next_client = parts.executor.handed_to(client.id, turn)
    if next_client is not None:
        parts.clients.handovers[client.gpu.uuid] += 1
    return next_client


def _count_moved(client: Client, out_bytes: int, in_bytes: int, seconds: float) -> None:
    client.counters.moved_out += out_bytes
    client.counters.moved_in += in_bytes
    client.counters.moving += seconds


HANDLERS: dict[type[Any], Any] = {
    frames.Hello: _hello_again,
    frames.Want: _want,
    frames.Released: _released,
    frames.CannotDrain: _cannot_drain,
    frames.CanDrain: _can_drain,
    frames.Held: _held,
    frames.Memory: _memory,
    frames.Allocates: _allocates,
    frames.Pinned: _pinned,
    frames.Context: _context,
    frames.Moved: _moved,
    frames.Usage: _usage,
    frames.Refused: _refused,
    frames.Host: _host,
    frames.Ping: _ping,
}
