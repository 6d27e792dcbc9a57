"""``nvshare web``: serves the web page of this machine, or of a cluster."""

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
from pathlib import Path
from typing import Any

import click

from nvshare.cli.control import Daemon
from nvshare.daemon.sockets.address import listen_on, parse_address, show_address
from nvshare.errors import BadInputError, NvshareError
from nvshare.telemetry.snapshot import GroupStatus, NodeStatus
from nvshare.wire import environment

_ADDRESS = "127.0.0.1:9465"
_ANY_PORT = "127.0.0.1:0"


class DaemonSource:
    """The daemon that the command line finds, used with the rights of this process."""

    def __init__(self, *, read_only: bool) -> None:
        self._read_only = read_only

    def status(self) -> NodeStatus:
        """Return a snapshot. Looks for the daemon each time, as it may have been restarted."""
        return Daemon().status()

    def may_change(self) -> bool:
        """Whether the control socket lets us in."""
        return not self._read_only and os.access(Daemon().path, os.W_OK)

    def change_limits(self, program: int, changes: dict[str, Any]) -> GroupStatus:
        """Change the limits of a program."""
        self._check("`nvshare limit`, or annotations of pods")
        return Daemon().change_limits(str(program), changes)

    def park(self, program: int, parked: bool) -> GroupStatus:
        """Park a program, or let it continue."""
        self._check("`nvshare park` and `nvshare unpark`")
        daemon = Daemon()
        return daemon.park(str(program)) if parked else daemon.unpark(str(program))

    def _check(self, instead: str) -> None:
        if self._read_only:
            raise BadInputError(
                "nothing can be changed from this page",
                why="it was started with --read-only",
                do=f"use {instead}",
            )


@click.command()
@click.option(
    "--address",
    metavar="HOST:PORT",
    help=f"Address to listen on; port 0 picks a free one.  [default: {_ADDRESS}]",
)
@click.option(
    "--token-file", metavar="FILE", help="Store the token in FILE instead of printing it."
)
@click.option("--read-only", is_flag=True, help="Allow looking only.")
@click.option("--peers", metavar="HOST:PORT", help="Show every node behind this DNS name.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="Accept this host name in requests as well."
)
def web(
    address: str | None,
    token_file: str | None,
    read_only: bool,
    peers: str | None,
    allow_host: tuple[str, ...],
) -> None:
    """Serve a web page with GPUs, programs, a timeline and limits, until interrupted.

    The page has your rights: a user who opens the printed URL can see and change what
    you can see and change.
    """
    from nvshare.web.peers import Peers
    from nvshare.web.server import WebServer
    from nvshare.web.token import keep_token, make_token

    token = keep_token(Path(token_file)) if token_file else make_token()
    others = Peers(*_peers(peers), token) if peers else None
    source = DaemonSource(read_only=read_only)
    server = WebServer(_node_name(), source, token, hosts=allow_host, peers=others)
    with _listen(address) as sock:
        # The output of a service is a log, which must not contain the token.
        _announce(sock, None if token_file else token, token_file)
        _warn(source, sock)
        asyncio.run(_serve(server, sock))


async def _serve(server: Any, sock: socket.socket) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await server.serve(sock, stop)


def _listen(address: str | None) -> socket.socket:
    """Listen at the given address, or at the usual one, or on any port if that is taken."""
    if address is not None:
        _check(address, "--address")
        return listen_on(address, what="the page", setting="--address")
    with contextlib.suppress(NvshareError):
        return listen_on(_ADDRESS, what="the page", setting="--address")
    return listen_on(_ANY_PORT, what="the page", setting="--address")


def _peers(text: str) -> tuple[str, int]:
    host, port = _check(text, "--peers")
    if not host or not port:
        raise BadInputError(f'"{text}" names no nodes', do="write --peers HOST:PORT")
    return host, port


def _check(text: str, option: str) -> tuple[str, int]:
    try:
        return parse_address(text)
    except ValueError as error:
        raise BadInputError(f"{option}: {error}") from None


def _node_name() -> str:
    """Return the name of this machine: that of the cluster node, or of the emulated node."""
    if name := os.environ.get(environment.NODE_NAME):
        return name
    folder = os.environ.get(environment.EMULATOR_NODE)
    return Path(folder).name if folder else socket.gethostname()


def _announce(sock: socket.socket, token: str | None, token_file: str | None) -> None:
    url = f"http://{show_address(sock)}/"
    click.echo(f"{url}#{token}" if token else f"{url} (the token is in {token_file})")


def _warn(source: DaemonSource, sock: socket.socket) -> None:
    """Print remarks that may surprise the user; none of them is an error."""
    try:
        source.status()
    except NvshareError as error:
        click.echo(f"nvshare: there is nothing to show yet: {error.in_a_line}", err=True)
    host = sock.getsockname()[0]
    if not ipaddress.ip_address(host).is_loopback:
        click.echo(
            f"nvshare: {show_address(sock)} can be reached from other machines, and the traffic "
            "is not encrypted (docs/web.md)",
            err=True,
        )
