"""A client of the API server: lists and watches pods, and writes events.

Three requests do not need the Kubernetes client library, which is larger than nvshare; aiohttp is
a dependency already.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

from nvshare.errors import NvshareError
from nvshare.kubernetes.cache import Gone, Trouble

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# Pods per page. Few, because parsing a page blocks the event loop.
_PAGE = 25
# The server ends a watch after this time, and it is resumed where it ended.
_WATCH_SECONDS = 300
_QUIET = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=_WATCH_SECONDS + 30)
_SHORT = aiohttp.ClientTimeout(total=30)


@dataclass(frozen=True)
class Access:
    """The address of the API server, and our credentials."""

    url: str
    token: Path | None = None
    authority: Path | None = None


def in_cluster(environ: Mapping[str, str], account: Path = _ACCOUNT) -> Access:
    """Return the access that Kubernetes gives to every pod."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise NvshareError(
            "the API server of the cluster cannot be found",
            why="KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
            do="run this in a pod, or do not name a node of a cluster in NVSHARE_NODE_NAME",
        )
    shown = f"[{host}]" if ":" in host else host
    return Access(f"https://{shown}:{port}", account / "token", account / "ca.crt")


class Client:
    """A connection to the API server."""

    def __init__(self, access: Access) -> None:
        self._access = access
        context = ssl.create_default_context(cafile=access.authority) if access.authority else None
        connector = aiohttp.TCPConnector(ssl=context if context is not None else True)
        self._session = aiohttp.ClientSession(access.url, connector=connector)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def list_pods(self, node: str) -> tuple[list[Mapping[str, Any]], str]:
        """Return the pods of a node, and the version of the cluster to which they correspond."""
        items: list[Mapping[str, Any]] = []
        query = {"fieldSelector": f"spec.nodeName={node}", "limit": str(_PAGE)}
        while True:
            async with self._session.get(
                "/api/v1/pods", params=query, headers=self._headers(), timeout=_SHORT
            ) as answer:
                page = json.loads(await _checked(answer))
            items += page.get("items") or ()
            metadata = page["metadata"]
            if not metadata.get("continue"):
                return items, metadata["resourceVersion"]
            query["continue"] = metadata["continue"]

    async def watch_pods(self, node: str, version: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the events of a node's pods from a version on, until the server ends the watch."""
        query = {
            "fieldSelector": f"spec.nodeName={node}",
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(_WATCH_SECONDS),
        }
        async with self._session.get(
            "/api/v1/pods", params=query, headers=self._headers(), timeout=_QUIET
        ) as answer:
            if answer.status != 200:
                await _checked(answer)
            rest = b""
            # A line is one event. Lines can be longer than aiohttp's limit for a line.
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield json.loads(line)

    async def create_event(self, namespace: str, event: Mapping[str, Any]) -> None:
        """Write an event."""
        async with self._session.post(
            f"/api/v1/namespaces/{namespace}/events",
            json=event,
            headers=self._headers(),
            timeout=_SHORT,
        ) as answer:
            await _checked(answer)

    def _headers(self) -> dict[str, str]:
        # Read every time: kubelet puts a new token there before the old one expires.
        if self._access.token is None:
            return {}
        return {"Authorization": f"Bearer {self._access.token.read_text().strip()}"}


async def _checked(answer: aiohttp.ClientResponse) -> bytes:
    body = await answer.read()
    if answer.status < 300:
        return body
    try:
        message = json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        message = answer.reason
    if answer.status == 410:
        raise Gone(message)
    raise Trouble(f"{answer.status} {message}")


# All temporary errors between us and an API server.
PASSING = (aiohttp.ClientError, asyncio.TimeoutError, OSError, Trouble, json.JSONDecodeError)
