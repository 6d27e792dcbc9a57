"""The current pods of one node. Lists and events of watches go in, changes come out; no I/O."""

from collections.abc import Iterable, Mapping
from typing import Any

from nvshare.kubernetes.pods import Pod, read_pod


class Gone(Exception):  # noqa: N818  (it is an answer of the API server, and an ordinary one)
    """Our version is too old for the API server: everything has to be listed again."""


class Trouble(Exception):  # noqa: N818  (the same)
    """The API server ends a watch because of an error."""


Change = tuple[Pod, bool]
"""A pod, and whether it is there now."""


class Cache:
    """All pods, and the version of the cluster to which they correspond."""

    def __init__(self) -> None:
        self.version = ""
        self.pods: dict[str, Pod] = {}

    def replace(self, items: Iterable[Mapping[str, Any]], version: str) -> list[Change]:
        """Take in a complete list."""
        fresh = {pod.uid: pod for pod in map(read_pod, items)}
        gone = [(pod, False) for uid, pod in self.pods.items() if uid not in fresh]
        changed = [(pod, True) for uid, pod in fresh.items() if self.pods.get(uid) != pod]
        self.pods, self.version = fresh, version
        return gone + changed

    def take(self, event: Mapping[str, Any]) -> list[Change]:
        """Take in one event of a watch."""
        kind, thing = event["type"], event["object"]
        if kind == "ERROR":
            if thing.get("code") == 410:
                raise Gone(thing.get("message") or "410")
            raise Trouble(thing.get("message") or str(thing))
        self.version = thing["metadata"]["resourceVersion"]
        if kind == "BOOKMARK":
            return []
        pod = read_pod(thing)
        before = self.pods.get(pod.uid)
        if kind == "DELETED":
            self.pods.pop(pod.uid, None)
            return [(pod, False)]
        self.pods[pod.uid] = pod
        # Most changes of a pod do not matter here.
        return [(pod, True)] if pod != before else []
