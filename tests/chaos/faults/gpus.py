"""Faults of GPUs: lost, not supported any more, or used by an outsider."""

import time

from nvshare.lab.emulator.fault import XID_LOST, refuse_answers, set_fault, steal_memory
from nvshare.quantity import parse_quantity

from ..excuses import MEMORY
from ..plan import Fault
from ..stage import Stage

# The daemon looks every two seconds which GPUs there are.
_GLANCE = 2.0


def lose(stage: Stage, fault: Fault) -> None:
    """A GPU falls off the bus, as far as NVML shows, and is back later."""
    gpu = fault.target % 2
    with stage.excuses.holding(MEMORY, gpu, and_then=2 * _GLANCE):
        set_fault(stage.node, gpu, XID_LOST, needs_reset=True)
        time.sleep(fault.seconds)
        set_fault(stage.node, gpu, 0, needs_reset=False)


def unsupported(stage: Stage, fault: Fault) -> None:
    """NVML answers NOT_SUPPORTED to all questions about a GPU, for a while."""
    gpu = fault.target % 2
    with stage.excuses.holding(MEMORY, gpu, and_then=2 * _GLANCE):
        refuse_answers(stage.node, gpu, refuses=True)
        time.sleep(fault.seconds)
        refuse_answers(stage.node, gpu, refuses=False)


def steal(stage: Stage, fault: Fault) -> None:
    """An outsider has memory of a GPU, for a while."""
    gpu = fault.target % 2
    with stage.excuses.holding(MEMORY, gpu, and_then=2 * _GLANCE):
        steal_memory(stage.node, gpu, parse_quantity(fault.value))
        time.sleep(fault.seconds)
        steal_memory(stage.node, gpu, 0)
