"""The parts of the daemon that the frames of clients reach. node.py makes them."""

from dataclasses import dataclass

from nvshare.daemon.clients.claims import Claims
from nvshare.daemon.clients.clients import Clients
from nvshare.daemon.clients.notices import Notices
from nvshare.daemon.executor import Executor
from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.groups.groups import Groups
from nvshare.daemon.host.extents import Extents
from nvshare.daemon.host.headroom import Headroom


@dataclass(slots=True)
class Parts:
    """One of each, for the whole node."""

    executor: Executor
    gpus: Gpus
    clients: Clients
    groups: Groups
    claims: Claims
    headroom: Headroom
    extents: Extents
    notices: Notices
