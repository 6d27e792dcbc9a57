"""Pods as the API server describes them, in short form."""

from collections.abc import Mapping
from typing import Any

from nvshare.kubernetes.pods import Pod, read_pod


def pod_tree(
    name: str = "trainer",
    *,
    annotations: Mapping[str, str] | None = None,
    containers: Mapping[str, Mapping[str, str]] | None = None,
    ids: Mapping[str, str] | None = None,
    phase: str = "Running",
    version: str = "1",
) -> dict[str, Any]:
    """Return the JSON of a pod. ``containers`` are names with limits, ``ids`` of those that run."""
    wanted = containers if containers is not None else {"main": {"nvshare.com/gpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-of-{name}",
            "resourceVersion": version,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "annotations": dict(annotations or {}),
        },
        "spec": {
            "containers": [
                {"name": key, "resources": {"limits": dict(limits)}}
                for key, limits in wanted.items()
            ]
        },
        "status": {
            "phase": phase,
            "containerStatuses": [
                {"name": key, "containerID": f"containerd://{value}"}
                for key, value in (ids or {}).items()
            ],
        },
    }


def make_pod(name: str = "trainer", **options: Any) -> Pod:
    """Return such a pod as it is read."""
    return read_pod(pod_tree(name, **options))
