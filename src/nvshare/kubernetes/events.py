"""Events on pods: how a person is told that an annotation makes no sense. Builds, sends nothing."""

import secrets
from datetime import datetime, timezone
from typing import Any

from nvshare.kubernetes.pods import Pod

COMPONENT = "nvshare"
# The API server cuts nothing off: it refuses.
_LONGEST = 1024


def warning(pod: Pod, reason: str, message: str, *, node: str, now: datetime) -> dict[str, Any]:
    """Return a warning about a pod, as the API server takes it."""
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
