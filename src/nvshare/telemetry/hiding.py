"""A snapshot without the private data of other users: their names, programs and processes."""

from collections.abc import Mapping

from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    GroupStatus,
    NodeStatus,
    OutsideProcess,
)

HIDDEN = "(hidden)"


def hide_others(status: NodeStatus, uid: int) -> NodeStatus:
    """Return what a user may see where others' data is hidden: numbers, but not names."""
    own = {client.group for client in status.clients if client.uid == uid}
    # Hidden groups have numbers: two of them on one GPU are two series to Prometheus.
    others = [group.key for group in status.groups if group.key not in own]
    keys = {key: f"{HIDDEN} {number}" for number, key in enumerate(others, 1)}
    return status.model_copy(
        update={
            "clients": tuple(
                client if client.uid == uid else _hidden_client(client, keys)
                for client in status.clients
            ),
            "devices": tuple(_without_names(gpu, uid) for gpu in status.devices),
            "groups": tuple(
                group if group.key in own else _hidden_group(group, keys[group.key])
                for group in status.groups
            ),
        }
    )


def _without_names(gpu: DeviceStatus, uid: int) -> DeviceStatus:
    shown = tuple(
        one if one.uid == uid or not one.pid else OutsideProcess(pid=-1, memory=one.memory)
        for one in gpu.outside
    )
    return gpu.model_copy(update={"outside": shown})


def _hidden_client(client: ClientStatus, keys: Mapping[str, str]) -> ClientStatus:
    group = keys.get(client.group, HIDDEN)
    names = {"program": HIDDEN, "user": HIDDEN, "group": group, "uid": -1, "pid": 0}
    empty = dict.fromkeys(("pod", "container", "pod_name", "container_name"), "")
    return client.model_copy(update={**names, **empty})


def _hidden_group(group: GroupStatus, key: str) -> GroupStatus:
    return group.model_copy(update={"key": key, "name": HIDDEN, "pids": ()})
