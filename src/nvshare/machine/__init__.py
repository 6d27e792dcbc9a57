"""What a client does with its turn: the machine of native/machine, which is written once.

The interposer has it linked in; the simulator and tests load it from here. It is told what happens
and says what is to be done. It decides nothing that the core decides, and knows nothing of it.
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
