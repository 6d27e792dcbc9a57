import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest

from nvshare.daemon.api import scrapes as scrapes_module
from nvshare.daemon.api.control import Control
from nvshare.daemon.api.scrapes import Scrapes
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.node import Node
from nvshare.daemon.sockets.address import listen_on
from nvshare.settings import DeviceSettings

SECONDS = 10


GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


async def ask(port: int, request: bytes = GET) -> str:
    """Send a request, and return all that comes until the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        return (await asyncio.wait_for(reader.read(), SECONDS)).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def serve(folder: Path, act: Callable[[int], Awaitable[None]], gpus: int = 0) -> None:
    """Serve the metrics of a node while something is done."""

    async def run() -> None:
        node = Node(
            asyncio.get_running_loop(),
            version="1",
            max_clients=1,
            spare_memory=0,
            folder=folder,
            on_population=lambda _: None,
        )
        for index in range(gpus):
            uuid = f"GPU-{UUID(int=index)}"
            node.add_gpu(Gpu(index, uuid, "a name", 1 << 30), DeviceSettings(), 0)
        sock = listen_on("127.0.0.1:0", what="metrics", setting="metrics_address")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        scrapes = Scrapes(Control(node), sock)
        await scrapes.start()
        try:
            await act(sock.getsockname()[1])
        finally:
            # Sooner than a slow connection is closed.
            await asyncio.wait_for(scrapes.close(), SECONDS / 2)
            node.close()

    asyncio.run(run())


def test_one_connection_is_for_one_scrape(tmp_path: Path) -> None:
    async def act(port: int) -> None:
        text = await ask(port, GET + GET)
        assert text.count("HTTP/1.1 200 OK") == 1
        assert "\nnvshare_uptime_seconds " in text

    serve(tmp_path, act)


def test_nothing_else_is_served(tmp_path: Path) -> None:
    async def act(port: int) -> None:
        goodbye = GET.replace(b"Host", b"Connection: close\r\nHost")
        for path in (b"/", b"/v1/status", b"/v1/health", b"/metrics/x"):
            answer = await ask(port, goodbye.replace(b"/metrics", path))
            assert answer.startswith("HTTP/1.1 404 ")
        answer = await ask(port, goodbye.replace(b"GET", b"POST"))
        assert answer.startswith("HTTP/1.1 405 ")

    serve(tmp_path, act)


def test_who_never_hangs_up_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapes_module, "_PATIENCE", 0.05)

    async def act(port: int) -> None:
        assert await ask(port, b"") == ""
        assert await ask(port, GET[:-2]) == ""

    serve(tmp_path, act)


def test_there_are_only_so_many_in_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapes_module, "_MOST", 2)

    async def act(port: int) -> None:
        silent = socket.create_connection(("127.0.0.1", port))
        assert (await ask(port)).startswith("HTTP/1.1 200 OK")
        assert await ask(port) == ""
        silent.close()

    serve(tmp_path, act)


def test_after_a_while_others_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapes_module, "_MOST", 1)
    monkeypatch.setattr(scrapes_module, "_PATIENCE", 0.05)

    async def act(port: int) -> None:
        # It is closed without an answer, and then there is room again.
        assert await ask(port, b"") == ""
        assert (await ask(port)).startswith("HTTP/1.1 200 OK")

    serve(tmp_path, act)


def test_the_end_does_not_wait_for_who_does_not_read(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)

        async def act(port: int) -> None:
            silent.connect(("127.0.0.1", port))
            silent.sendall(GET)
            # A later request has been served, so the other has been, as far as it can be.
            assert len(await ask(port)) > 200_000

        # More than is buffered for a peer that does not read.
        serve(tmp_path, act, gpus=100)
