"""Notices in words for the users of a client, and the events of its pod.

Turns, settings and answers are frames of their own: see nvshare.daemon.executor.
"""

import asyncio
import weakref
from typing import TYPE_CHECKING

from nvshare.core import effects
from nvshare.core.effects import ReportKind
from nvshare.daemon.clients.explain_wait import WaitNotice, why_it_waits
from nvshare.wire import frames

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.node import Node

# The room in a NOTICE.
_NOTICE_CHARACTERS = 500
# The reports that become events of a pod: about its memory, its waiting, and its behaviour.
FOR_PODS = {
    ReportKind.STUCK,
    ReportKind.HELD_UP,
    ReportKind.HOST_FULL,
    ReportKind.TOO_LARGE,
    ReportKind.NOT_NOW,
    ReportKind.OVERCOMMITTED,
    ReportKind.UNDRAINED,
}
# The program learns of a refusal from the answer.
_REFUSALS = {ReportKind.HOST_FULL, ReportKind.TOO_LARGE, ReportKind.NOT_NOW}


class Notices:
    """The notices of one client."""

    def __init__(self, loop: asyncio.AbstractEventLoop, node: "Node", session: "Session") -> None:
        self._node = node
        # A weak reference: the session owns these notices, and ends their wait when it ends.
        self._session: Session = weakref.proxy(session)
        self._wait = WaitNotice(loop)

    def begin_wait(self, seconds: float) -> None:
        """Note that the client waits; explain the wait if it takes longer than this."""
        self._wait.begin(seconds, self._complain)

    def end_wait(self) -> None:
        """Note the end of the wait."""
        self._wait.end()

    def report(self, report: effects.Report) -> None:
        """Pass on a report of the core about the client."""
        decision = self._session.decision
        if report.kind is ReportKind.TOO_LARGE and decision and decision.may_mix:
            # It is about to get the memory in another way.
            return
        if report.kind in FOR_PODS - _REFUSALS:
            self._send(report.text)
        if report.kind in FOR_PODS:
            self._node.tell_pod(self._session.identity, report.kind, report.text)

    def _complain(self, seconds: float) -> bool:
        """Tell users what the client waits for; return whether there was something to tell."""
        member = self._session.member
        if member is None:
            return False
        text = why_it_waits(self._node, self._session, member, seconds)
        if text is not None:
            self._send(text)
        return text is not None

    def _send(self, text: str) -> None:
        self._session.send(frames.Notice(text[:_NOTICE_CHARACTERS]))
