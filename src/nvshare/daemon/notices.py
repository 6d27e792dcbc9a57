"""What the people who run a client are told in words, and the events of its pod.

Turns, settings and answers are frames of their own: see nvshare.daemon.executor.
"""

import asyncio
import weakref
from typing import TYPE_CHECKING

from nvshare.core import effects
from nvshare.core.effects import ReportKind
from nvshare.daemon.waiting import WaitNotice, why_it_waits
from nvshare.wire import frames

if TYPE_CHECKING:
    from nvshare.daemon.node import Node
    from nvshare.daemon.session import Session

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
# Of a refusal the program hears by the answer.
_REFUSALS = {ReportKind.HOST_FULL, ReportKind.TOO_LARGE, ReportKind.NOT_NOW}


class Notices:
    """The notices of one client."""

    def __init__(self, loop: asyncio.AbstractEventLoop, node: "Node", session: "Session") -> None:
        self._node = node
        # It has these, and ends their wait when it ends; so they do not keep it.
        self._session: Session = weakref.proxy(session)
        self._wait = WaitNotice(loop)

    def begin_wait(self, seconds: float) -> None:
        """The client waits from now on; say what for if that takes longer than this."""
        self._wait.begin(seconds, self._complain)

    def end_wait(self) -> None:
        """It waits no more."""
        self._wait.end()

    def report(self, report: effects.Report) -> None:
        """Pass on what the core reports of the client."""
        decision = self._session.decision
        if report.kind is ReportKind.TOO_LARGE and decision and decision.may_mix:
            # It is about to have it in another way.
            return
        if report.kind in FOR_PODS - _REFUSALS:
            self._send(report.text)
        if report.kind in FOR_PODS:
            self._node.tell_pod(self._session.identity, report.kind, report.text)

    def _complain(self, seconds: float) -> bool:
        """Say what the client waits for; returns whether it was said."""
        member = self._session.member
        if member is None:
            return False
        text = why_it_waits(self._node, self._session, member, seconds)
        if text is not None:
            self._send(text)
        return text is not None

    def _send(self, text: str) -> None:
        self._session.send(frames.Notice(text[:_NOTICE_CHARACTERS]))
