"""One connection, from its first byte to its end. Its first frame makes it a client.

registration.py lets clients in and out; frame_events.py handles their later frames.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from typing import Any

from nvshare.core.lease import IllegalTransition
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.frame_events import HANDLERS
from nvshare.daemon.clients.registration import Registration
from nvshare.daemon.groups.await_page import PageWait
from nvshare.daemon.logs import fields
from nvshare.daemon.sockets.connection import Connection
from nvshare.daemon.tenants.deaths import Deaths
from nvshare.daemon.tenants.identity import Caller, Identity, identify
from nvshare.daemon.tenants.peers import Peers
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.wire import frames
from nvshare.wire.codec import VersionError, WireError, client_frames

log = logging.getLogger("nvshare.session")

# A connection without HELLO is closed after this time.
_HELLO_SECONDS = 10.0


class Session:
    """One connection. ``on_end`` is called with it at its end."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        registration: Registration,
        peers: Peers,
        deaths: Deaths,
        seen: Caller | None = None,
        on_end: "Callable[[Session], None]" = lambda _: None,
    ) -> None:
        self._registration = registration
        self._peers = peers
        self._deaths = deaths
        self._on_end = on_end
        self.identity: Identity = identify(sock, seen)
        self.peer = peers.enter(self.identity)
        self.client: Client | None = None
        self._page_wait = PageWait(loop, registration.awaits_page)
        self._decoder = client_frames()
        self._connection = Connection(sock, loop, self._on_bytes, self._on_lost, self._may_read)
        self._patience = loop.call_later(_HELLO_SECONDS, self.close, "it sent nothing")
        deaths.follow(self.identity, self)

    @property
    def log_fields(self) -> dict[str, Any]:
        """Its fields in the log."""
        return self.identity.log_fields if self.client is None else self.client.log_fields

    def close(self, why: str) -> None:
        """End the connection."""
        self._connection.close(why)

    def abandon(self) -> None:
        """End the connection as the daemon ends: the client runs on, and nobody is told."""
        if self.client is not None:
            self.client.wait.end()
            self.client = None
        self.close("the daemon ends")

    def _may_read(self, connection: Connection) -> bool:
        return self._peers.read(self.peer, connection)

    def _on_bytes(self, data: bytes) -> None:
        self._take(self._decoder.feed(data))

    def _take(self, came: Iterable[frames.FromClient]) -> None:
        try:
            for frame in came:
                if self.client is None:
                    self._introduce(frame)
                else:
                    HANDLERS[type(frame)](self._registration.parts, self.client, frame)
        except Rejection as rejection:
            self._reject(rejection.code, str(rejection))
        except VersionError as error:
            self._reject(frames.RejectCode.VERSION, f"{error}; install the same nvshare on both")
        except (WireError, IllegalTransition) as error:
            self._reject(frames.RejectCode.PROTOCOL, str(error))
        except Exception:
            # A bug in the daemon that this client has triggered: the others go on.
            log.exception("a frame could not be handled", extra=fields(**self.log_fields))
            self._reject(frames.RejectCode.PROTOCOL, "the daemon could not handle a frame")

    def _introduce(self, frame: frames.FromClient) -> None:
        if not isinstance(frame, frames.Hello):
            raise Rejection(frames.RejectCode.PROTOCOL, "the first frame has to be HELLO")
        self._patience.cancel()
        if self._page_wait.must_wait(self.identity, frame, lambda hello: self._take([hello])):
            return
        registration = self._registration
        self.client = registration.enter(self.identity, self.peer, self._connection, frame)
        registration.welcome(self.client)
        if frame.flags & frames.HelloFlags.WANTS:
            HANDLERS[frames.Want](registration.parts, self.client, frames.Want(frame.turn))

    def _reject(self, code: frames.RejectCode, why: str) -> None:
        first = why.splitlines()[0]
        log.warning(
            "client turned away",
            extra=fields(code=code.name.lower(), why=why, uid=self.identity.uid, **self.log_fields),
        )
        self._connection.send(frames.Reject(code, first).pack())
        self.close(first)

    def _on_lost(self, why: str) -> None:
        self._patience.cancel()
        self._deaths.forget(self.identity, self)
        self._page_wait.end()
        self._peers.leave(self.peer)
        if self.client is not None:
            self.client.wait.end()
            log.info("client left", extra=fields(why=why, **self.log_fields))
            self._registration.leave(self.client)
        self._on_end(self)
