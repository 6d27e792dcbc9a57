"""The same page's servers on other nodes of a cluster: found by one name, asked with one token.

The name is that of a headless Service: all its addresses are nodes. The API server is not asked, so
no permission for it is needed.
"""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from pydantic import ValidationError

from nvshare.errors import BadInputError, NvshareError
from nvshare.web.views import NodeView

# How often the name is looked up.
_PERIOD = 10.0
_TIMEOUT = aiohttp.ClientTimeout(total=5)
# Bytes of one answer: far more than a thousand programs need.
_LARGEST = 32 << 20
# Everything that can be wrong with an answer. An invalid one is a ValueError.
_TROUBLE = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError)

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a name, or raises OSError."""


class Peers:
    """All nodes behind a name and a port."""

    def __init__(self, host: str, port: int, token: str, resolve: Resolve | None = None) -> None:
        self._host = host
        self._port = port
        self._resolve = resolve or _resolve
        self._headers = {"Authorization": f"Bearer {token}"}
        self._addresses: list[str] = []
        self._looked_up = float("-inf")
        self._by_name: dict[str, str] = {}

    async def start(self) -> None:
        """Open the session."""
        # No proxy of the environment is to see the token.
        self._session = aiohttp.ClientSession(
            headers=self._headers, timeout=_TIMEOUT, trust_env=False
        )

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()

    async def views(self, after: int) -> list[NodeView]:
        """Ask all nodes at once. A node that does not answer is shown with the reason."""
        await self._look_up()
        return list(await asyncio.gather(*(self._view(one, after) for one in self._addresses)))

    async def ask(self, node: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Forward a request to another node; return the status and the body of its answer."""
        address = self._by_name.get(node)
        if address is None:
            raise BadInputError(f'there is no node "{node}"', do="reload the page")
        try:
            async with self._session.request(
                method, f"{self._url(address)}{path}", json=body, allow_redirects=False
            ) as answer:
                return answer.status, json.loads(await _whole(answer))
        except _TROUBLE as error:
            raise NvshareError(f"{node} does not answer", why=_reason(error)) from error

    async def _view(self, address: str, after: int) -> NodeView:
        try:
            async with self._session.get(
                f"{self._url(address)}/v1/node",
                params={"after": str(after)},
                # A redirect would send the token elsewhere.
                allow_redirects=False,
            ) as answer:
                if answer.status != 200:
                    raise ValueError(f"it answered with HTTP status {answer.status}")
                view = NodeView.model_validate_json(await _whole(answer))
        except _TROUBLE as error:
            return NodeView(name=self._name_of(address), problem=_reason(error))
        self._by_name[view.name] = address
        return view

    async def _look_up(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._looked_up < _PERIOD:
            return
        self._looked_up = loop.time()
        # Known nodes stay known while the name cannot be resolved.
        with contextlib.suppress(OSError):
            self._addresses = sorted(set(await self._resolve(self._host, self._port)))
        self._by_name = {n: a for n, a in self._by_name.items() if a in self._addresses}

    def _name_of(self, address: str) -> str:
        return next((name for name, one in self._by_name.items() if one == address), address)

    def _url(self, address: str) -> str:
        host = f"[{address}]" if ":" in address else address
        return f"http://{host}:{self._port}"


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _LARGEST:
            raise ValueError("its answer is too large")
    return bytes(body)


def _reason(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return "it has another version of nvshare"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return f"it does not answer: {os.strerror(number) if number else 'no connection'}"
    if isinstance(error, asyncio.TimeoutError):
        return f"it has not answered in {_TIMEOUT.total:.0f} s"
    return str(error) or type(error).__name__
