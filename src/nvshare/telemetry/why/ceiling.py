"""The limits that a ceiling has cut, in a sentence."""

from nvshare.limits.table import LIMITS
from nvshare.telemetry.snapshot import ClientStatus


def say_capped(client: ClientStatus) -> str:
    """Name the limits that the ceiling of its pod's namespace has cut; empty: none."""
    words = [
        f"its {one.label} ({one.in_sentence(getattr(client.limits, one.name))})"
        for one in LIMITS
        if one.name in client.capped
    ]
    if not words:
        return ""
    namespace = client.pod_name.partition("/")[0]
    whose = f"namespace {namespace}" if namespace else "its node"
    verb = "are" if len(words) > 1 else "is"
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"{listed[0].upper()}{listed[1:]} {verb} set by the ceiling of {whose}."
