"""Turns effects into frames, timers and log lines. Decides nothing; nvshare.core does."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from nvshare.core import effects
from nvshare.core.core import Core
from nvshare.core.effects import Effect
from nvshare.core.events import Event, Timer, TimerFired
from nvshare.daemon.logs import fields
from nvshare.limits.table import LIMITS
from nvshare.telemetry.time.time_log import TimeLog
from nvshare.wire import frames

log = logging.getLogger("nvshare.core")

_URGENCY = {
    effects.Urgency.WHEN_IDLE: frames.Urgency.WHEN_IDLE,
    effects.Urgency.NOW: frames.Urgency.NOW,
}
_VERDICT = {
    effects.Verdict.YES: frames.Verdict.YES,
    effects.Verdict.HOST_FULL: frames.Verdict.HOST_FULL,
    effects.Verdict.TOO_LARGE: frames.Verdict.TOO_LARGE,
    effects.Verdict.NOT_NOW: frames.Verdict.NOT_NOW,
}
_LONGEST_US = 2**32 - 1
_MOST_NUMBERS = 2**32 - 1
Kind = TypeVar("Kind", bound=Effect)


def microseconds(seconds: float) -> int:
    """Return a time as frames carry it: an hour and more is as good as forever."""
    return min(round(seconds * 1e6), _LONGEST_US)


class Recipient(Protocol):
    """A client, as far as effects are concerned."""

    def send(self, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        """Send it a frame."""

    def granted(self, now: float) -> None:
        """Note a turn that it was granted."""

    def answered(self, answer: effects.Answer) -> None:
        """Note the answer that it was sent."""

    def reported(self, report: effects.Report) -> None:
        """Note what users are told about it."""

    @property
    def log_fields(self) -> dict[str, Any]:
        """Its fields in the log."""


class Executor:
    """Feeds events to the core, and carries out its effects."""

    def __init__(self, core: Core, loop: asyncio.AbstractEventLoop, gpu_clock: float = 1.0) -> None:
        self.core = core
        self.times = TimeLog(core)
        self._loop = loop
        self.gpu_clock = gpu_clock
        self._recipients: dict[int, Recipient] = {}
        self._timers: dict[Timer, asyncio.TimerHandle] = {}
        # By client and turn, the client that it may hand over to: its claims are checked here.
        self._next_clients: dict[int, dict[int, int]] = {}
        # The number of the last Hold or StepOnce that a client was sent, unless that is over; and
        # the last number that was sent at all.
        self._numbers: dict[int, int] = {}
        self._last_number = 0
        # Makes host memory (host/extents.py).
        self.on_provide: Callable[[int, int], None] | None = None

    def now(self) -> float:
        """The time that events carry."""
        return self._loop.time()

    def add(self, client: int, recipient: Recipient) -> None:
        """Send this client's frames to a recipient from now on."""
        self._recipients[client] = recipient

    def remove(self, client: int) -> None:
        """Forget a client."""
        self._recipients.pop(client, None)
        self._next_clients.pop(client, None)
        self._numbers.pop(client, None)

    def is_answer(self, client: int, number: int) -> bool:
        """Whether a client answers its last Hold or StepOnce, and not one that is over."""
        return self._numbers.get(client) == number

    def handed_to(self, client: int, turn: int) -> int | None:
        """Return and forget the client that this turn was to be handed to, if any."""
        return self._next_clients.pop(client, {}).get(turn)

    def dispatch(self, event: Event) -> None:
        """Pass an event to the core, and carry out the effects."""
        ordered = self.core.handle(event)
        self.times.hear(event, ordered)
        for effect in ordered:
            _PERFORM[type(effect)](self, effect)

    def close(self) -> None:
        """Cancel all timers."""
        for handle in self._timers.values():
            handle.cancel()
        self._timers.clear()

    def send(self, client: int, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        """Send a client a frame, if it is still here."""
        recipient = self._recipients.get(client)
        if recipient is not None:
            recipient.send(frame, descriptor)

    def _grant(self, effect: effects.Grant) -> None:
        recipient = self._recipients.get(effect.client)
        if recipient is not None:
            recipient.send(
                frames.Grant(effect.turn, _said(effect.fill_bytes), _said(effect.missing))
            )
            recipient.granted(self.now())

    def _revoke(self, effect: effects.Revoke) -> None:
        # A client may claim so much memory that the time to move it does not fit into a frame.
        idle_us = microseconds(effect.idle_seconds)
        urgency = _URGENCY[effect.urgency]
        flags = frames.RevokeFlags.DISPLACE if effect.displace else frames.RevokeFlags(0)
        frame = frames.Revoke(effect.turn, urgency, idle_us, _said(effect.evict_bytes), flags)
        if effect.urgency is effects.Urgency.NOW:
            self._numbers.pop(effect.client, None)
        self.send(effect.client, frame)

    def _room(self, effect: effects.Room) -> None:
        self.send(effect.client, frames.Room(effect.turn, _said(effect.missing)))

    def _keep(self, effect: effects.Keep) -> None:
        self._numbers.pop(effect.client, None)
        self.send(effect.client, frames.Keep(effect.turn))

    def _hold(self, effect: effects.Hold) -> None:
        self.send(effect.client, frames.Hold(effect.turn, self._next_number(effect.client)))

    def _step(self, effect: effects.StepOnce) -> None:
        self.send(effect.client, frames.Step(effect.turn, self._next_number(effect.client)))

    def _next_number(self, client: int) -> int:
        self._last_number = self._last_number % _MOST_NUMBERS + 1
        self._numbers[client] = self._last_number
        return self._last_number

    def _hand_over(self, effect: effects.Handover) -> None:
        # Only a shortcut: the core grants the turn in any case when it hears of the release. So
        # without free descriptors, the shortcut is left out.
        # Each has its own end, so that neither can harm the other through it.
        try:
            giver, taker = socket.socketpair()
        except OSError as error:
            log.warning("no direct hand-over this time", extra=fields(why=error.strerror))
            return
        with giver, taker:
            # The next client first, so that it listens when the holder writes.
            standby = frames.Standby(effect.turn, _said(effect.fill_bytes), _said(effect.missing))
            self.send(effect.to_client, standby, taker.fileno())
            handover = frames.Handover(effect.from_turn, effect.turn)
            self.send(effect.from_client, handover, giver.fileno())
        self._next_clients.setdefault(effect.from_client, {})[effect.turn] = effect.to_client

    def _cancel_handover(self, effect: effects.CancelHandover) -> None:
        self.send(effect.from_client, frames.CancelHandover(effect.from_turn))

    def _trim(self, effect: effects.Trim) -> None:
        self.send(effect.client, frames.Trim(_said(effect.trim_bytes)))

    def _evict(self, effect: effects.Evict) -> None:
        self.send(effect.client, frames.Evict(_said(effect.evict_bytes)))

    def _provide(self, effect: effects.Provide) -> None:
        if self.on_provide is not None:
            self.on_provide(effect.client, effect.host_bytes)

    def _answer(self, effect: effects.Answer) -> None:
        recipient = self._recipients.get(effect.client)
        if recipient is not None:
            verdict = _VERDICT[effect.verdict]
            recipient.send(frames.Answer(effect.ticket, verdict, _said(effect.missing)))
            recipient.answered(effect)

    def _set_limits(self, effect: effects.SetLimits) -> None:
        share = effect.share
        values = [(one, one.from_core(getattr(effect.limits, one.core_name))) for one in LIMITS]
        flags = frames.LimitFlags(0)
        for one, value in values:
            flags |= frames.LimitFlags(one.flags(value))
        frame = frames.Limits(
            **{one.name: value or 0 for one, value in values if one.is_told},
            flags=flags,
            share_ppm=0 if share.percent is None else max(1, round(share.percent * 10_000)),
            window_us=microseconds(share.window),
            own_ppm=max(1, round(share.own * 1e6)),
            clock=round(self.gpu_clock * 1000),
        )
        self.send(effect.client, frame)

    def _set_timer(self, effect: effects.SetTimer) -> None:
        self._stop(effect.timer)
        self._timers[effect.timer] = self._loop.call_at(effect.at, self._fire, effect.timer)

    def _cancel_timer(self, effect: effects.CancelTimer) -> None:
        self._stop(effect.timer)

    def _stop(self, timer: Timer) -> None:
        handle = self._timers.pop(timer, None)
        if handle is not None:
            handle.cancel()

    def _fire(self, timer: Timer) -> None:
        self._timers.pop(timer, None)
        self.dispatch(TimerFired(now=self.now(), timer=timer))

    def _report(self, effect: effects.Report) -> None:
        recipient = self._recipients.get(effect.client) if effect.client is not None else None
        who = recipient.log_fields if recipient is not None else {}
        device = effect.device or None
        log.warning(effect.text, extra=fields(event=effect.kind.value, device=device, **who))
        if recipient is not None:
            recipient.reported(effect)


def _said(size: int) -> int:
    """Return bytes, cut to what a frame can carry: sums of many claims can be more."""
    return min(size, frames.MOST_BYTES)


def _performer(kind: type[Kind], method: Callable[[Executor, Kind], None]) -> tuple[Any, Any]:
    """A pair of the table below; the types of its halves have to agree."""
    return kind, method


_PERFORM: dict[type[Effect], Callable[[Executor, Effect], None]] = dict(
    [
        _performer(effects.Grant, Executor._grant),
        _performer(effects.Revoke, Executor._revoke),
        _performer(effects.Room, Executor._room),
        _performer(effects.Keep, Executor._keep),
        _performer(effects.Hold, Executor._hold),
        _performer(effects.StepOnce, Executor._step),
        _performer(effects.Handover, Executor._hand_over),
        _performer(effects.CancelHandover, Executor._cancel_handover),
        _performer(effects.Evict, Executor._evict),
        _performer(effects.Trim, Executor._trim),
        _performer(effects.Provide, Executor._provide),
        _performer(effects.Answer, Executor._answer),
        _performer(effects.SetLimits, Executor._set_limits),
        _performer(effects.SetTimer, Executor._set_timer),
        _performer(effects.CancelTimer, Executor._cancel_timer),
        _performer(effects.Report, Executor._report),
    ]
)
