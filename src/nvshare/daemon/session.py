"""One connection, from HELLO through its life as a client to its end.

nvshare.daemon.frame_events handles its frames; nvshare.daemon.notices tells its users in words.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from nvshare.core import effects, events
from nvshare.core.lease import IllegalTransition
from nvshare.daemon.allocation import Decision
from nvshare.daemon.connection import Connection
from nvshare.daemon.frame_events import HANDLERS
from nvshare.daemon.history import History
from nvshare.daemon.identity import Identity, Visitor, identify
from nvshare.daemon.logs import fields
from nvshare.daemon.minute import Minute, look
from nvshare.daemon.newcomer import Newcomer
from nvshare.daemon.notices import Notices
from nvshare.daemon.reading import KINDS, Rejection, memory_of, own_limits_of
from nvshare.daemon.tally import Tally
from nvshare.settings import ClientLimits
from nvshare.wire import frames
from nvshare.wire.codec import VersionError, WireError, client_frames

if TYPE_CHECKING:
    from nvshare.daemon.node import Member, Node

log = logging.getLogger("nvshare.session")

YES, TOO_LARGE = effects.Verdict.YES, effects.Verdict.TOO_LARGE
# A connection without HELLO is closed after this time.
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
        self.node = node
        self._newcomer = Newcomer(loop, node)
        self.identity: Identity = identify(sock, seen)
        self.peer = node.peers.enter(self.identity)
        self.member: Member | None = None
        self.hello: frames.Hello | None = None
        # How it allocates, and why.
        self.decision: Decision | None = None
        self.pinned_by: dict[str, int] = {}
        # The limits that it was started with; its group determines what it may use.
        self.own_limits = ClientLimits()
        self.slot_key = 0
        # Memory that it has reported as out, and that is still on its way.
        self.left = 0
        self.tally = Tally()
        self.history = History()
        self._notices = Notices(loop, node, self)
        self.minute = Minute()
        # The unanswered request for a context, and the context that counted before it.
        self.context_ticket = self.context_before = 0
        self._told_settings: frames.Settings | None = None
        self.used_ns = 0
        self._decoder = client_frames()
        self._connection = Connection(sock, loop, self._on_bytes, self._on_lost, self._may_read)
        self._patience = loop.call_later(_HELLO_SECONDS, self.close, "it sent nothing")
        node.deaths.follow(self.identity, self)

    @property
    def log_fields(self) -> dict[str, Any]:
        """The fields of this client in the log."""
        who, number = self.identity, self.member.id if self.member else None
        named = {"client": number, "pid": who.pid, "program": who.program, "pod": who.pod}
        return {**named, "payer": who.tenant}

    def send(self, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        """Send a frame."""
        self._connection.send(frame.pack(), descriptor)

    def take_page(self) -> int:
        """Return the quota page that it has brought, or -1; the caller closes it."""
        return self._connection.take_descriptor()

    def tell_settings(self, settings: frames.Settings) -> None:
        """Send the client the settings, unless it knows them."""
        if settings != self._told_settings:
            self._told_settings = settings
            self.send(settings)

    def granted(self, now: float) -> None:
        """Note a turn that the client was granted."""
        self.tally.begin_turn(now)
        self._notices.end_wait()

    def reported(self, report: effects.Report) -> None:
        """Pass a report on to the client's users and its pod."""
        self._notices.report(report)

    def begin_wait(self, now: float, member: "Member") -> None:
        """Note that the client waits for a turn."""
        self.tally.begin_wait(now)
        if self.hello and not self.hello.flags & frames.HelloFlags.PATIENT:
            self._notices.begin_wait(self.node.settings[member.gpu.uuid].wait_notice)

    def answered(self, answer: effects.Answer) -> None:
        """Note an answer: a refused context is not there."""
        mixes = self.decision is not None and self.decision.may_mix
        # A client that mixes kinds is about to get the memory in another way.
        if answer.verdict is not YES and not (mixes and answer.verdict is TOO_LARGE):
            self.tally.refuse(answer.verdict)
        if self.member and answer.ticket == self.context_ticket:
            self.context_ticket = 0
            if answer.verdict is not YES:
                self.member.context = self.context_before

    def close(self, why: str) -> None:
        """End the connection."""
        self._connection.close(why)

    def _may_read(self, connection: Connection) -> bool:
        return self.node.peers.read(self.peer, connection)

    def _on_bytes(self, data: bytes) -> None:
        self._take(self._decoder.feed(data))

    def _take(self, came: Iterable[frames.FromClient]) -> None:
        try:
            for frame in came:
                if self.member is None:
                    self._introduce(frame)
                else:
                    HANDLERS[type(frame)](self, frame, self.member)
        except Rejection as rejection:
            self._reject(rejection.code, str(rejection))
        except VersionError as error:
            self._reject(frames.RejectCode.VERSION, f"{error}; install the same nvshare on both")
        except (WireError, IllegalTransition) as error:
            self._reject(frames.RejectCode.PROTOCOL, str(error))
        except Exception:
            # A bug in the daemon that this client has triggered: the others go on.
            log.exception("a frame could not be handled", extra=fields(**self.log_fields))
            self._reject(frames.RejectCode.PROTOCOL, "the daemon could not handle a frame")

    def _introduce(self, frame: frames.FromClient) -> None:
        if not isinstance(frame, frames.Hello):
            raise Rejection(frames.RejectCode.PROTOCOL, "the first frame has to be HELLO")
        self._patience.cancel()
        if self._newcomer.must_wait(self.identity, frame, lambda hello: self._take([hello])):
            return
        self.hello = frame
        self.own_limits = own_limits_of(frame)
        member = self.node.enter(self, frame)
        now = self.node.now()
        running = bool(frame.flags & frames.HelloFlags.RESUMING)
        if running:
            self.tally.running_since = now
        returns, doubted = self.peer.arrive(member.gpu.uuid, resumes=running)
        kind = KINDS[self.decided(frame).kind]
        # Before the core decides what it may move out.
        self.node.headroom.enter(member.id, self.identity.pid, kind)
        self.node.dispatch(
            events.ClientJoined(
                now=now,
                client=member.id,
                device=member.gpu.uuid,
                memory=self.node.belief.of(self, member, memory_of(frame)),
                kind=kind,
                running=running,
                turn=frame.turn,
                ungranted=bool(frame.flags & frames.HelloFlags.UNGRANTED),
                limits=self.node.groups.limits(member.group).for_core(),
                group=member.group.key,
                parked=member.group.parked,
                can_hold=bool(frame.flags & frames.HelloFlags.CAN_HOLD),
                owner=self.peer.owner,
                returns=returns,
                doubted=doubted,
            )
        )
        self.minute.note(look(self.node, self, member, now))
        log.info(
            "client joined",
            extra=fields(**self.log_fields, device=member.gpu.index, resumed=running or None),
        )
        # Its environment may change the limits of the other members.
        self.node.apply_limits(member.group, f"environment of pid {self.identity.pid}")
        if frame.flags & frames.HelloFlags.WANTS:
            HANDLERS[frames.Want](self, frames.Want(frame.turn), member)

    def decided(self, frame: frames.Hello | frames.Allocates) -> Decision:
        """Return how it allocates, which is decided on HELLO."""
        if self.decision is None:
            raise Rejection(frames.RejectCode.PROTOCOL, f"{frame.allocation_kind.name} too early")
        return self.decision

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
        self.node.deaths.forget(self.identity, self)
        self._newcomer.end()
        self._notices.end_wait()
        self.node.peers.leave(self.peer)
        if self.member is not None:
            log.info("client left", extra=fields(why=why, **self.log_fields))
        self.node.leave(self)
