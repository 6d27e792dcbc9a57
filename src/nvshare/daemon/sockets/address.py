"""An address to listen on, as people write it: host:port, [host]:port or :port."""

import os
import re
import socket

from nvshare.errors import NvshareError
from nvshare.validation import plain

_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<plain>[^\[\]:]*)):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65535


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port. No host: all addresses of the machine; port 0: any free port."""
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > _LAST_PORT:
        raise ValueError(
            plain(f'"{text}" is not an address such as "127.0.0.1:9464", "[::1]:9464" or ":9464"')
        )
    return found["bracketed"] or found["plain"], int(found["port"])


def show_address(sock: socket.socket) -> str:
    """Return the address that a socket listens on."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listen_on(text: str, *, what: str, setting: str) -> socket.socket:
    """Make a socket that listens on an address. Errors name its purpose and its setting."""
    host, port = parse_address(text)
    try:
        sock = _listen(host, port)
    except OSError as error:
        raise NvshareError(
            f"{what} cannot be served on {text}",
            why=_reason(error),
            do=f"choose another address for {setting}, or leave it out",
        ) from error
    sock.setblocking(False)
    return sock


def _listen(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    flags = socket.AI_PASSIVE
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=flags)
    family, _, _, _, address = found[0]
    return socket.create_server(address[:2], family=family)


def _reason(error: OSError) -> str | None:
    """Return the reason without the address, which the message already has."""
    if isinstance(error, socket.gaierror) or not error.errno:
        return error.strerror
    return os.strerror(error.errno)
