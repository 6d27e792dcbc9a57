"""The behaviour that nvshare relies on, as a table. BAD: the driver behaves differently here.

Each entry names its source, and the decision that depends on it. "Published driver" is the source
of NVIDIA's open kernel modules, 595.45.04, by function; "inferred" means that it follows from
there, or is known of the closed half of the driver from hearsay. No entry has been seen on hardware
yet.
"""

from nvshare.probe.expectations.machine import MACHINE
from nvshare.probe.expectations.moves import MOVES
from nvshare.probe.expectations.sharing import SHARING

EXPECTATIONS = (*MACHINE, *MOVES, *SHARING)
