"""What a client does with its turn: the state machine of native/machine, which is written once.

The interposer links it; the simulator and tests load it from here. It takes inputs and returns
actions. It makes no decision of the core's, and does not know the core.
"""

from nvshare.machine.machine import Action, Input, Machine
from nvshare.machine.values import Act, Event, Job, Reason, Result, Standby, State

__all__ = [
    "Act",
    "Action",
    "Event",
    "Input",
    "Job",
    "Machine",
    "Reason",
    "Result",
    "Standby",
    "State",
]
