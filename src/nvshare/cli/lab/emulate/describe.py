"""An emulated node as JSON. The keys are those of docs/json.md."""

from nvshare.lab.emulator.conf import gpu_uuid
from nvshare.lab.emulator.emulated_node import Node


def describe_node(node: Node) -> dict[str, object]:
    """Return the fixed properties of a node."""
    return {
        "node": node.name,
        "folder": str(node.folder),
        "speed": node.speed,
        "devices": [
            {"index": index, "uuid": gpu_uuid(node.name, index), "name": name}
            for index, name in enumerate(node.gpu_names)
        ],
        "problem": None,
    }
