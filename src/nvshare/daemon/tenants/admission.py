"""Admits, delays or closes a new connection, at the least cost that decides which.

If its process has all the connections that it may have, the pid is enough to close it. If its
tenant has used up its budget (peers.py), it waits, and is identified only when it is let in.
identity.py identifies peers, peers.py limits them, and sockets/server.py limits how often they
connect.
"""

import contextlib
import logging
import socket
import time
from collections.abc import Callable

from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.identity import Caller, identify_caller
from nvshare.daemon.tenants.peer import Peer
from nvshare.daemon.tenants.peers import Peers
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.launch.peer import peer
from nvshare.wire import frames

log = logging.getLogger("nvshare.peers")

Begin = Callable[[socket.socket, Caller], Peer]


class Admission:
    """Admits connections. ``begin`` makes a session of one, or raises Rejection."""

    def __init__(self, peers: Peers, begin: Begin) -> None:
        self._peers = peers
        self._begin = begin
        self._newcomers: set[_Newcomer] = set()

    def connect(self, sock: socket.socket) -> bool:
        """Let a connection in; false: it waits or was closed, and either was cheap."""
        begin = time.thread_time()
        if self._peers.is_full(peer(sock)[0]):
            sock.close()
            return False
        seen = identify_caller(sock)
        # A process that has ended has no known tenant: no other may wait or pay for it.
        if not seen.is_known or not self._peers.has_to_wait(seen.tenant):
            return self.let_in(sock, seen, begin)
        newcomer = _Newcomer(self, sock, seen)
        if self._peers.delay(seen.tenant, newcomer):
            self._newcomers.add(newcomer)
        else:
            sock.close()
        return False

    def let_in(self, sock: socket.socket, seen: Caller, begin: float) -> bool:
        """Begin a session, charged for all since ``begin``; or log why not, and close."""
        try:
            self._peers.charge(self._begin(sock, seen), begin)
        except Rejection as rejection:
            log.warning(
                "client turned away", extra=fields(pid=seen.pid, payer=seen.tenant, why=rejection)
            )
            with sock, contextlib.suppress(OSError):
                sock.setblocking(False)
                sock.send(frames.Reject(rejection.code, str(rejection)).pack())
            if seen.is_known:
                self._peers.charge_tenant(seen.tenant, begin)
            return False
        return True

    def forget(self, newcomer: "_Newcomer") -> None:
        """Note that a connection no longer waits."""
        self._newcomers.discard(newcomer)

    def close(self) -> None:
        """Close all waiting connections."""
        for newcomer in list(self._newcomers):
            newcomer.close("the daemon ends")


class _Newcomer:
    """A connection that waits to be let in."""

    def __init__(self, admission: Admission, sock: socket.socket, seen: Caller) -> None:
        self._admission = admission
        self._sock = sock
        self._seen = seen

    def read_some(self) -> bool:
        """Let the connection in, unless it was closed. False: there is nothing more to read."""
        self._admission.forget(self)
        if self._sock.fileno() >= 0:
            try:
                self._admission.let_in(self._sock, self._seen, time.thread_time())
            except OSError as error:
                # As in sockets/server.py, but accepting need not pause for it.
                log.warning("a client cannot be let in", extra=fields(why=error.strerror))
                self._sock.close()
        return False

    def close(self, why: str) -> None:
        """Close the connection."""
        del why
        self._admission.forget(self)
        self._sock.close()
