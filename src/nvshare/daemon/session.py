"""One client: its frames to the core's events. What follows from them is not decided here."""

import asyncio
import logging
import socket
import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nvshare.core import effects, events
from nvshare.core.effects import ReportKind
from nvshare.core.lease import IllegalTransition
from nvshare.core.memory import Kind
from nvshare.daemon.allocation import Decision
from nvshare.daemon.connection import Connection
from nvshare.daemon.history import History
from nvshare.daemon.identity import Identity, Visitor, identify
from nvshare.daemon.logs import fields
from nvshare.daemon.minute import Minute, look
from nvshare.daemon.newcomer import Newcomer
from nvshare.daemon.reading import Rejection, memory_of, own_limits_of
from nvshare.daemon.tally import Report, Tally
from nvshare.daemon.waiting import WaitNotice, why_it_waits
from nvshare.settings import ClientLimits
from nvshare.wire import frames
from nvshare.wire.codec import VersionError, WireError, client_frames

if TYPE_CHECKING:
    from nvshare.daemon.node import Member, Node

log = logging.getLogger("nvshare.session")

KINDS = {
    frames.AllocationKind.MANAGED: Kind.MANAGED,
    frames.AllocationKind.NATIVE: Kind.NATIVE,
    frames.AllocationKind.EXPLICIT: Kind.EXPLICIT,
    frames.AllocationKind.MIXED: Kind.MIXED,
}
_REASONS = {
    frames.ReleaseReason.IDLE: events.Reason.IDLE,
    frames.ReleaseReason.TOLD: events.Reason.TOLD,
    frames.ReleaseReason.USED_UP: events.Reason.USED_UP,
}
# As much as a NOTICE has room for.
_NOTICE_CHARACTERS = 500
# What is for the events of a pod: its memory, that of others that it waits for, and its own ways.
FOR_PODS = {
    ReportKind.STUCK,
    ReportKind.HELD_UP,
    ReportKind.HOST_FULL,
    ReportKind.TOO_LARGE,
    ReportKind.NOT_NOW,
    ReportKind.OVERCOMMITTED,
    ReportKind.UNDRAINED,
}
YES, TOO_LARGE = effects.Verdict.YES, effects.Verdict.TOO_LARGE
# Of a refusal the program hears by the answer.
_REFUSALS = {ReportKind.HOST_FULL, ReportKind.TOO_LARGE, ReportKind.NOT_NOW}
# Who connects and says nothing is let go after this time.
_HELLO_SECONDS = 10.0


class Session:
    """One connection, from its first byte to its end."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        node: "Node",
        seen: Visitor | None = None,
    ) -> None:
        self._node = node
        begin = time.thread_time()
        self._newcomer = Newcomer(loop, node, lambda hello: self._take([hello]))
        self.identity: Identity = identify(sock, seen)
        self.peer = node.peers.enter(self.identity)
        self.member: Member | None = None
        self.hello: frames.Hello | None = None
        # How it allocates, and why.
        self.decision: Decision | None = None
        self.pinned_by: dict[str, int] = {}
        # What it was started with; what it may use is its group's.
        self.own_limits = ClientLimits()
        self.seat = 0
        # What it has reported to be out, and is still on its way.
        self.left = 0
        self.tally = Tally()
        self.history = History()
        self._wait_notice = WaitNotice(loop, self._complain)
        self.minute = Minute()
        # The ask for a context that is not answered yet, and what counted before it.
        self._context_ticket = self._context_before = 0
        self._told_settings: frames.Settings | None = None
        self._used_ns = 0
        self._decoder = client_frames()
        self._connection = Connection(sock, loop, self._on_bytes, self._on_lost, self._may_read)
        self._patience = loop.call_later(_HELLO_SECONDS, self.close, "it said nothing")
        self.peer.charge(loop.time(), time.thread_time() - begin)

    @property
    def log_fields(self) -> dict[str, Any]:
        """What to call this client in the log."""
        who, number = self.identity, self.member.id if self.member else None
        named = {"client": number, "pid": who.pid, "program": who.program, "pod": who.pod}
        return {**named, "payer": who.tenant}

    def send(self, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        """Send a frame."""
        self._connection.send(frame.pack(), descriptor)

    def take_page(self) -> int:
        """Return the page of its group that it has brought along, or -1; the caller closes it."""
        return self._connection.take_descriptor()

    def tell_settings(self, settings: frames.Settings) -> None:
        """Tell the client the settings, unless it knows them."""
        if settings != self._told_settings:
            self._told_settings = settings
            self.send(settings)

    def granted(self, now: float) -> None:
        """Take note of a turn that the client was granted."""
        self.tally.begin_turn(now)
        self._wait_notice.end()

    def reported(self, report: effects.Report) -> None:
        """Pass on what the people who run it, or its pod, should know."""
        if report.kind is ReportKind.TOO_LARGE and self.decision and self.decision.may_mix:
            # It is about to have it in another way.
            return
        if report.kind in FOR_PODS - _REFUSALS:
            self.send(frames.Notice(report.text[:_NOTICE_CHARACTERS]))
        if report.kind in FOR_PODS:
            self._node.tell_pod(self.identity, report.kind, report.text)

    def _begin_wait(self, now: float, member: "Member") -> None:
        self.tally.begin_wait(now)
        if self.hello and not self.hello.flags & frames.HelloFlags.PATIENT:
            self._wait_notice.begin(self._node.settings[member.gpu.uuid].wait_notice)

    def _complain(self, seconds: float) -> bool:
        """Say what the client waits for; returns whether it was said."""
        if self.member is None:
            return False
        text = why_it_waits(self._node, self, self.member, seconds)
        if text is not None:
            self.send(frames.Notice(text[:_NOTICE_CHARACTERS]))
        return text is not None

    def answered(self, answer: effects.Answer) -> None:
        """Take note of an answer: a context that was refused is not there."""
        mixes = self.decision is not None and self.decision.may_mix
        # One that mixes is about to have it in another way.
        if answer.verdict is not YES and not (mixes and answer.verdict is TOO_LARGE):
            self.tally.refuse(answer.verdict)
        if self.member and answer.ticket == self._context_ticket:
            self._context_ticket = 0
            if answer.verdict is not YES:
                self.member.context = self._context_before

    def close(self, why: str) -> None:
        """End the connection."""
        self._connection.close(why)

    def _may_read(self, connection: Connection) -> bool:
        return self._node.peers.read(self.peer, connection)

    def _on_bytes(self, data: bytes) -> None:
        self._take(self._decoder.feed(data))

    def _take(self, came: Iterable[frames.FromClient]) -> None:
        try:
            for frame in came:
                if self.member is None:
                    self._introduce(frame)
                else:
                    _EVENTS[type(frame)](self, frame, self.member)
        except Rejection as rejection:
            self._reject(rejection.code, str(rejection))
        except VersionError as error:
            self._reject(frames.RejectCode.VERSION, f"{error}; install the same nvshare on both")
        except (WireError, IllegalTransition) as error:
            self._reject(frames.RejectCode.PROTOCOL, str(error))
        except Exception:
            # A mistake of ours, which this client has found: the others go on.
            log.exception("a frame could not be handled", extra=fields(**self.log_fields))
            self._reject(frames.RejectCode.PROTOCOL, "the daemon could not handle a frame")

    def _introduce(self, frame: frames.FromClient) -> None:
        if not isinstance(frame, frames.Hello):
            raise Rejection(frames.RejectCode.PROTOCOL, "the first frame has to be HELLO")
        self._patience.cancel()
        if self._newcomer.must_wait(self.identity, frame):
            return
        self.hello = frame
        self.own_limits = own_limits_of(frame)
        member = self._node.enter(self, frame)
        now = self._node.now()
        running = bool(frame.flags & frames.HelloFlags.RESUMING)
        if running:
            self.tally.running_since = now
        returns, doubted = self.peer.arrive(member.gpu.uuid, resumes=running)
        kind = KINDS[self._decided(frame).kind]
        # Before anybody decides what it may move out.
        self._node.headroom.enter(member.id, self.identity.pid, kind)
        self._node.dispatch(
            events.ClientJoined(
                now=now,
                client=member.id,
                device=member.gpu.uuid,
                memory=self._node.belief.of(self, member, memory_of(frame)),
                kind=kind,
                running=running,
                turn=frame.turn,
                limits=self._node.groups.limits(member.group).for_core(),
                group=member.group.key,
                parked=member.group.parked,
                can_hold=bool(frame.flags & frames.HelloFlags.CAN_HOLD),
                owner=self.peer.owner,
                returns=returns,
                doubted=doubted,
            )
        )
        self.minute.note(look(self._node, self, member, now))
        log.info(
            "client joined",
            extra=fields(**self.log_fields, device=member.gpu.index, resumed=running or None),
        )
        # With it, the others may be limited by another environment.
        self._node.apply_limits(member.group, f"environment of pid {self.identity.pid}")
        if frame.flags & frames.HelloFlags.WANTS:
            self._want(frames.Want(frame.turn), member)

    def _decided(self, frame: frames.Hello | frames.Allocates) -> Decision:
        if self.decision is None:
            raise Rejection(frames.RejectCode.PROTOCOL, f"{frame.allocation_kind.name} too early")
        return self.decision

    def _allocate_otherwise(self, frame: frames.Allocates, member: "Member") -> None:
        self.decision = self._decided(frame).changed(frame.allocation_kind)
        kind = KINDS[frame.allocation_kind]
        self._node.dispatch(events.KindChanged(now=self._node.now(), client=member.id, kind=kind))
        log.info(
            "client allocates in another way", extra=fields(**self.log_fields, kind=kind.value)
        )

    def _pin(self, frame: frames.Pinned, member: "Member") -> None:
        """People look at it; the sum, by which is decided, comes with MEMORY."""
        del member
        self.pinned_by = {name: value for name, value in asdict(frame).items() if value}

    def _again(self, frame: frames.Hello, member: "Member") -> None:
        del frame, member
        raise Rejection(frames.RejectCode.PROTOCOL, "HELLO came twice")

    def _want(self, frame: frames.Want, member: "Member") -> None:
        now = self._node.now()
        self._begin_wait(now, member)
        self._node.dispatch(events.Wanted(now=now, client=member.id, turn=frame.turn))

    def _release(self, frame: frames.Released, member: "Member") -> None:
        now = self._node.now()
        seconds = frame.moved_ns / 1e9
        self._moved(frame.moved_bytes, 0, seconds)
        self.tally.end_turn(now)
        self.left = frame.left
        if frame.wants:
            self._begin_wait(now, member)
        self._node.dispatch(
            events.Released(
                now=now,
                client=member.id,
                turn=frame.turn,
                reason=_REASONS[frame.reason],
                memory=self._node.belief.of(self, member, memory_of(frame)),
                wants=bool(frame.wants),
                moved_bytes=frame.moved_bytes,
                seconds=seconds,
                handed_to=self._node.heir(member, frame.handed_turn),
                handed_turn=frame.handed_turn,
                left=frame.left,
            )
        )
        self._node.headroom.soon()

    def _go_on(self, frame: frames.CannotDrain, member: "Member") -> None:
        if frame.number and not self._node.executor.is_answer(member.id, frame.number):
            return
        log.info(
            "client cannot give way",
            extra=fields(**self.log_fields, turn=frame.turn, reason=frame.reason.name.lower()),
        )
        now = self._node.now()
        self._node.dispatch(events.CannotDrain(now=now, client=member.id, turn=frame.turn))

    def _may_go(self, frame: frames.CanDrain, member: "Member") -> None:
        now = self._node.now()
        self._node.dispatch(events.CanDrain(now=now, client=member.id, turn=frame.turn))

    def _is_held(self, frame: frames.Held, member: "Member") -> None:
        # It may have crossed with what has made an end of that.
        if not self._node.executor.is_answer(member.id, frame.number):
            return
        now = self._node.now()
        self._node.dispatch(
            events.Held(now=now, client=member.id, turn=frame.turn, waits=bool(frame.waits))
        )

    def _allocate(self, frame: frames.Memory, member: "Member") -> None:
        self._node.dispatch(
            events.MemoryChanged(
                now=self._node.now(),
                client=member.id,
                memory=self._node.belief.of(self, member, memory_of(frame)),
                ticket=frame.ticket,
            )
        )
        self._node.headroom.soon()

    def _be_newcomer(self, frame: frames.Context, member: "Member") -> None:
        """Have room made for a context, which cannot leave once it is there."""
        gpu = member.gpu
        one = self._node.settings[gpu.uuid].context_of(gpu.memory)
        if frame.ticket:
            self._context_ticket, self._context_before = frame.ticket, member.context
            context = member.context + one if frame.has_context else max(member.context, one)
        else:
            # What it has asked for in vain is not there.
            context = max(self._context_before, one) if frame.has_context else 0
        memory = self._node.core.client_view(member.id).memory.with_context(context)
        # A refusal comes before this returns, and is heard of by answered().
        member.context = context
        self._node.dispatch(
            events.MemoryChanged(
                now=self._node.now(),
                client=member.id,
                memory=memory,
                ticket=frame.ticket,
                for_context=bool(frame.ticket),
            )
        )

    def _move(self, frame: frames.Moved, member: "Member") -> None:
        seconds = frame.ns / 1e9
        self._moved(frame.out_bytes, frame.in_bytes, seconds)
        self.left = frame.left
        self._node.dispatch(
            events.Moved(
                now=self._node.now(),
                client=member.id,
                turn=frame.turn,
                memory=self._node.belief.of(self, member, memory_of(frame)),
                out_bytes=frame.out_bytes,
                in_bytes=frame.in_bytes,
                seconds=seconds,
                left=frame.left,
            )
        )
        self._node.headroom.soon()

    def _use(self, frame: frames.Usage, member: "Member") -> None:
        before = self.tally.told
        now = self._node.now()
        report = Report(frame.busy_ns, frame.launches, frame.throttled_ns, frame.gpu_ns)
        self.tally.tell(report, round((now - member.since) * 1e9))
        # Beside others, what a program bills its share for is less than it measures, and its own.
        self._used_ns += (frame.gpu_ns - before.gpu_ns) or (frame.busy_ns - before.busy_ns)
        self.history.note(now, self._used_ns / 1e9)
        self._node.dispatch(
            events.UsageReported(
                now=now,
                client=member.id,
                busy_seconds=frame.busy_ns / 1e9,
                throttled_seconds=frame.throttled_ns / 1e9,
            )
        )

    def _refused(self, frame: frames.Refused, member: "Member") -> None:
        del member
        self.tally.tell_refusals(frame.over_limit, frame.over_gpu)

    def _hold(self, frame: frames.Host, member: "Member") -> None:
        self._node.extents.report(member.id, frame)

    def _answer(self, frame: frames.Ping, member: "Member") -> None:
        del member
        self.send(frames.Pong(frame.number))

    def _moved(self, out_bytes: int, in_bytes: int, seconds: float) -> None:
        self.tally.moved_out += out_bytes
        self.tally.moved_in += in_bytes
        self.tally.moving += seconds

    def _reject(self, code: frames.RejectCode, why: str) -> None:
        first = why.splitlines()[0]
        log.warning(
            "client turned away",
            extra=fields(code=code.name.lower(), why=why, uid=self.identity.uid, **self.log_fields),
        )
        self.send(frames.Reject(code, first))
        self.close(first)

    def _on_lost(self, why: str) -> None:
        self._patience.cancel()
        self._newcomer.end()
        self._wait_notice.end()
        self._node.peers.leave(self.peer)
        if self.member is not None:
            log.info("client left", extra=fields(why=why, **self.log_fields))
        self._node.leave(self)


_EVENTS: dict[type[Any], Any] = {
    frames.Hello: Session._again,
    frames.Want: Session._want,
    frames.Released: Session._release,
    frames.CannotDrain: Session._go_on,
    frames.CanDrain: Session._may_go,
    frames.Held: Session._is_held,
    frames.Memory: Session._allocate,
    frames.Allocates: Session._allocate_otherwise,
    frames.Pinned: Session._pin,
    frames.Context: Session._be_newcomer,
    frames.Moved: Session._move,
    frames.Usage: Session._use,
    frames.Refused: Session._refused,
    frames.Host: Session._hold,
    frames.Ping: Session._answer,
}
