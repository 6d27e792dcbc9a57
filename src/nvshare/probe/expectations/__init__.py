"""What nvshare relies on, as a table. BAD means: the driver does not do that here.

Each entry says who says so, and which decision hangs on it. "Published driver" is the source of
NVIDIA's open kernel modules, 595.45.04, by function; "inferred" means that it follows from there,
or is known of the closed half of the driver from hearsay. No entry has been seen on hardware yet.
"""

from nvshare.probe.expectations.machine import MACHINE
from nvshare.probe.expectations.moves import MOVES
from nvshare.probe.expectations.sharing import SHARING

EXPECTATIONS = (*MACHINE, *MOVES, *SHARING)
