"""Events on pods, which report invalid annotations to the user. Builds them, sends nothing."""

import secrets
from collections import deque
from datetime import datetime, timezone
from typing import Any

from nvshare.kubernetes.pods import Pod

COMPONENT = "nvshare"
# The API server refuses longer messages.
_LONGEST = 1024
# For each pod. A user who may annotate a pod could otherwise flood the API server.
MOST_EVENTS, WINDOW_SECONDS = 10, 60.0


class EventBudget:
    """The events that a pod may still have in this window. The caller passes the time."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._is_said = False

    def take(self, now: float) -> bool:
        """Take one. Return False if there is none left."""
        while self._times and now - self._times[0] >= WINDOW_SECONDS:
            self._times.popleft()
        if len(self._times) >= MOST_EVENTS:
            return False
        self._times.append(now)
        self._is_said = False
        return True

    def is_to_be_said(self) -> bool:
        """Whether to report that there is none left: once each time."""
        was_said, self._is_said = self._is_said, True
        return not was_said


def warning(pod: Pod, reason: str, message: str, *, node: str, now: datetime) -> dict[str, Any]:
    """Return a warning about a pod, in the API server's format."""
    time = now.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{pod.name}.{secrets.token_hex(8)}", "namespace": pod.namespace},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": pod.name,
            "namespace": pod.namespace,
            "uid": pod.uid,
        },
        "type": "Warning",
        "reason": reason,
        "message": message[:_LONGEST],
        "source": {"component": COMPONENT, "host": node},
        "reportingComponent": COMPONENT,
        "reportingInstance": node,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    }
