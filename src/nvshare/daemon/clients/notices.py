"""Notices in words for the users of clients, and the events of their pods.

Turns, settings and answers are frames of their own: see executor.py.
"""

from functools import partial

from nvshare.core import effects
from nvshare.core.effects import ReportKind
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.clients import Clients
from nvshare.daemon.clients.explain_wait import why_it_waits
from nvshare.daemon.executor import Executor
from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.groups.pods import Pods
from nvshare.wire import frames

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
    """Tells users what they have to know about their clients."""

    def __init__(self, executor: Executor, gpus: Gpus, clients: Clients, pods: Pods) -> None:
        self._executor = executor
        self._gpus = gpus
        self._clients = clients
        self._pods = pods

    def begin_wait(self, client: Client) -> None:
        """Note that a client waits; explain the wait if it takes too long."""
        if not client.hello.flags & frames.HelloFlags.PATIENT:
            seconds = self._gpus.settings[client.gpu.uuid].wait_notice
            client.wait.begin(seconds, partial(self._complain, client))

    def report(self, client: Client, report: effects.Report) -> None:
        """Pass on a report of the core about a client."""
        if report.kind is ReportKind.TOO_LARGE and client.decision.may_mix:
            # It is about to get the memory in another way.
            return
        if report.kind in FOR_PODS - _REFUSALS:
            _send(client, report.text)
        if report.kind in FOR_PODS:
            self._pods.notify(client.identity, report.kind.value, report.text)

    def _complain(self, client: Client, seconds: float) -> bool:
        """Tell users what a client waits for; return whether there was something to tell."""
        settings = self._gpus.settings[client.gpu.uuid]
        text = why_it_waits(self._executor, settings, self._clients, client, seconds)
        if text is not None:
            _send(client, text)
        return text is not None


def _send(client: Client, text: str) -> None:
    client.send(frames.Notice(text[:_NOTICE_CHARACTERS]))
