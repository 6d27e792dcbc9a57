"""Limits that are what they are because of a ceiling, in a sentence."""

from nvshare.quantity import format_quantity
from nvshare.telemetry.snapshot import ClientStatus


def say_capped(client: ClientStatus) -> str:
    """Say which of its limits the ceiling of its pod's namespace has set; empty: none."""
    words = [text for name, text in _in_words(client).items() if name in client.capped]
    if not words:
        return ""
    namespace = client.pod_name.partition("/")[0]
    whose = f"namespace {namespace}" if namespace else "its node"
    verb = "are" if len(words) > 1 else "is"
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"{listed[0].upper()}{listed[1:]} {verb} set by the ceiling of {whose}."


def _in_words(client: ClientStatus) -> dict[str, str]:
    limits = client.limits
    return {
        "memory_limit": f"its memory limit ({format_quantity(limits.memory_limit or 0)})",
        "compute_percent": f"its share ({limits.compute_percent} %)",
        "burst": "its burst (off)",
        "priority": f"its priority ({limits.priority or 'normal'})",
    }
