"""The probes, in the order in which they run. The names of readings begin with the probe's."""

from collections.abc import Callable
from typing import TypeAlias

from nvshare.probe.bench import Bench
from nvshare.probe.probes import (
    blocks,
    bus,
    calls,
    capture,
    crowded,
    faults,
    gate,
    machine,
    mapped,
    memory,
    prefetch,
    side_by_side,
    untouched,
)

Probe: TypeAlias = Callable[[Bench], None]

PROBES: dict[str, Probe] = {
    "machine": machine.probe,
    "memory": memory.probe,
    "bus": bus.probe,
    "calls": calls.probe,
    "prefetch": prefetch.probe,
    "mapped": mapped.probe,
    "blocks": blocks.probe,
    "untouched": untouched.probe,
    "faults": faults.probe,
    "crowded": crowded.probe,
    "side_by_side": side_by_side.probe,
    "gate": gate.probe,
    "capture": capture.probe,
}
