"""Turns frames of a registered client into the core's events: one function per type of frame.

nvshare.core decides what follows from them, and nvshare.daemon.executor tells the clients.
"""

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nvshare.core import events
from nvshare.daemon.clients.counters import Report
from nvshare.daemon.clients.frame_values import KINDS, Rejection, memory_of
from nvshare.daemon.logs import fields
from nvshare.wire import frames

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.node import Member

log = logging.getLogger("nvshare.session")

_REASONS = {
    frames.ReleaseReason.IDLE: events.Reason.IDLE,
    frames.ReleaseReason.TOLD: events.Reason.TOLD,
    frames.ReleaseReason.USED_UP: events.Reason.USED_UP,
}


def _allocates(session: "Session", frame: frames.Allocates, member: "Member") -> None:
    session.decision = session.decided(frame).changed(frame.allocation_kind)
    kind = KINDS[frame.allocation_kind]
    session.node.dispatch(events.KindChanged(now=session.node.now(), client=member.id, kind=kind))
    log.info("client allocates in another way", extra=fields(**session.log_fields, kind=kind.value))


def _pinned(session: "Session", frame: frames.Pinned, member: "Member") -> None:
    """Note it for users; decisions use the sum, which comes with MEMORY."""
    del member
    session.pinned_by = {name: value for name, value in asdict(frame).items() if value}


def _hello_again(session: "Session", frame: frames.Hello, member: "Member") -> None:
    del session, frame, member
    raise Rejection(frames.RejectCode.PROTOCOL, "HELLO came twice")


def _want(session: "Session", frame: frames.Want, member: "Member") -> None:
    now = session.node.now()
    session.begin_wait(now, member)
    session.node.dispatch(events.Wanted(now=now, client=member.id, turn=frame.turn))


def _released(session: "Session", frame: frames.Released, member: "Member") -> None:
    now = session.node.now()
    seconds = frame.moved_ns / 1e9
    _count_moved(session, frame.moved_bytes, 0, seconds)
    session.counters.end_turn(now)
    session.left = frame.left
    if frame.wants:
        session.begin_wait(now, member)
    session.node.dispatch(
        events.Released(
            now=now,
            client=member.id,
            turn=frame.turn,
            reason=_REASONS[frame.reason],
            memory=session.node.claims.of(session, member, memory_of(frame)),
            wants=bool(frame.wants),
            moved_bytes=frame.moved_bytes,
            seconds=seconds,
            handed_to=session.node.handed_to(member, frame.handed_turn),
            handed_turn=frame.handed_turn,
            left=frame.left,
        )
    )
    session.node.headroom.soon()


def _cannot_drain(session: "Session", frame: frames.CannotDrain, member: "Member") -> None:
    if frame.number and not session.node.executor.is_answer(member.id, frame.number):
        return
    log.info(
        "client cannot give way",
        extra=fields(**session.log_fields, turn=frame.turn, reason=frame.reason.name.lower()),
    )
    now = session.node.now()
    session.node.dispatch(events.CannotDrain(now=now, client=member.id, turn=frame.turn))


def _can_drain(session: "Session", frame: frames.CanDrain, member: "Member") -> None:
    now = session.node.now()
    session.node.dispatch(events.CanDrain(now=now, client=member.id, turn=frame.turn))


def _held(session: "Session", frame: frames.Held, member: "Member") -> None:
    # It may have crossed with the frame that ended the hold.
    if not session.node.executor.is_answer(member.id, frame.number):
        return
    now = session.node.now()
    session.node.dispatch(
        events.Held(now=now, client=member.id, turn=frame.turn, waits=bool(frame.waits))
    )


def _memory(session: "Session", frame: frames.Memory, member: "Member") -> None:
    session.node.dispatch(
        events.MemoryChanged(
            now=session.node.now(),
            client=member.id,
            memory=session.node.claims.of(session, member, memory_of(frame)),
            ticket=frame.ticket,
        )
    )
    session.node.headroom.soon()


def _context(session: "Session", frame: frames.Context, member: "Member") -> None:
    """Have room made for a context, which cannot leave once it is there."""
    gpu = member.gpu
    one = session.node.settings[gpu.uuid].context_of(gpu.memory)
    if frame.ticket:
        session.context_ticket, session.context_before = frame.ticket, member.context
        context = member.context + one if frame.has_context else max(member.context, one)
    else:
        # A context that was refused is not there.
        context = max(session.context_before, one) if frame.has_context else 0
    memory = session.node.core.client_view(member.id).memory.with_context(context)
    # A refusal comes before this returns, through answered().
    member.context = context
    session.node.dispatch(
        events.MemoryChanged(
            now=session.node.now(),
            client=member.id,
            memory=memory,
            ticket=frame.ticket,
            for_context=bool(frame.ticket),
        )
    )


def _moved(session: "Session", frame: frames.Moved, member: "Member") -> None:
    seconds = frame.ns / 1e9
    _count_moved(session, frame.out_bytes, frame.in_bytes, seconds)
    session.left = frame.left
    session.node.dispatch(
        events.Moved(
            now=session.node.now(),
            client=member.id,
            turn=frame.turn,
            memory=session.node.claims.of(session, member, memory_of(frame)),
            out_bytes=frame.out_bytes,
            in_bytes=frame.in_bytes,
            seconds=seconds,
            left=frame.left,
        )
    )
    session.node.headroom.soon()


def _usage(session: "Session", frame: frames.Usage, member: "Member") -> None:
    before = session.counters.told
    now = session.node.now()
    report = Report(frame.busy_ns, frame.launches, frame.throttled_ns, frame.gpu_ns)
    session.counters.tell(report, round((now - member.since) * 1e9))
    # Beside others, a program bills its share for its own part, which is less than it measures.
    session.used_ns += (frame.gpu_ns - before.gpu_ns) or (frame.busy_ns - before.busy_ns)
    session.history.note(now, session.used_ns / 1e9)
    session.node.dispatch(
        events.UsageReported(
            now=now,
            client=member.id,
            busy_seconds=frame.busy_ns / 1e9,
            throttled_seconds=frame.throttled_ns / 1e9,
        )
    )


def _refused(session: "Session", frame: frames.Refused, member: "Member") -> None:
    del member
    session.counters.tell_refusals(frame.over_limit, frame.over_gpu)


def _host(session: "Session", frame: frames.Host, member: "Member") -> None:
    session.node.extents.report(member.id, frame)


def _ping(session: "Session", frame: frames.Ping, member: "Member") -> None:
    del member
    session.send(frames.Pong(frame.number))


def _count_moved(session: "Session", out_bytes: int, in_bytes: int, seconds: float) -> None:
    session.counters.moved_out += out_bytes
    session.counters.moved_in += in_bytes
    session.counters.moving += seconds


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
