"""Pods as the API server describes them, reduced to what nvshare uses. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nvshare.errors import BadInputError
from nvshare.quantity import parse_quantity

_TERMINAL = {"Succeeded", "Failed"}
_SPECS = ("initContainers", "containers", "ephemeralContainers")
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


@dataclass(frozen=True, slots=True)
class Container:
    """One container. ``id`` is empty until the runtime has created it."""

    name: str
    id: str
    limits: Mapping[str, str]

    def asks(self, resource: str) -> int:
        """How many of a resource it asks for."""
        try:
            return parse_quantity(self.limits.get(resource, "0"))
        except BadInputError:
            # The API server accepts forms that are unusual for a count, such as "1e0".
            return 0


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod."""

    uid: str
    namespace: str
    name: str
    created: str
    is_over: bool
    annotations: Mapping[str, str]
    containers: tuple[Container, ...]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def read_pod(tree: Mapping[str, Any]) -> Pod:
    """Read the JSON of a pod. A missing field counts as empty: kubelet adds fields gradually."""
    metadata = tree["metadata"]
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    ids = {
        entry["name"]: _bare_id(entry.get("containerID") or "")
        for kind in _STATUSES
        for entry in status.get(kind) or ()
    }
    return Pod(
        uid=metadata["uid"],
        namespace=metadata["namespace"],
        name=metadata["name"],
        created=metadata.get("creationTimestamp") or "",
        is_over=status.get("phase") in _TERMINAL,
        annotations=metadata.get("annotations") or {},
        containers=tuple(
            Container(
                name=entry["name"],
                id=ids.get(entry["name"], ""),
                limits=(entry.get("resources") or {}).get("limits") or {},
            )
            for kind in _SPECS
            for entry in spec.get(kind) or ()
        ),
    )


def _bare_id(text: str) -> str:
    """Cut "containerd://" or "cri-o://" off."""
    return text.partition("://")[2] or text
