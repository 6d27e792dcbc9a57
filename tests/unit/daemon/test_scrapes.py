import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nvshare.daemon import scrapes as scrapes_module
from nvshare.daemon.address import listen_on
from nvshare.daemon.control import Control
from nvshare.daemon.node import Node
from nvshare.daemon.scrapes import Scrapes

SECONDS = 10


GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


async def ask(port: int, request: bytes = GET) -> str:
    """Send something, and return all that comes until the end of the connection."""
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


def serve(folder: Path, act: Callable[[int], Awaitable[None]]) -> None:
    """Serve the metrics of a node without GPUs while something is done."""

    async def run() -> None:
        node = Node(
            asyncio.get_running_loop(),
            version="1",
            max_clients=1,
            spare_memory=0,
            folder=folder,
            on_population=lambda _: None,
        )
        sock = listen_on("127.0.0.1:0", what="metrics", setting="metrics_address")
        scrapes = Scrapes(Control(node), sock)
        await scrapes.start()
        try:
            await act(sock.getsockname()[1])
        finally:
            await scrapes.close()
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


def test_there_are_only_so_many_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapes_module, "_MOST", 2)

    async def act(port: int) -> None:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
        assert await ask(port) == ""
        silent[0].close()
        while not (await ask(port)).startswith("HTTP/1.1 200 OK"):
            # The server has yet to hear that there is room again.
            await asyncio.sleep(0.01)
        silent[1].close()

    serve(tmp_path, act)


def test_the_end_does_not_wait_for_the_dead(tmp_path: Path) -> None:
    silent: list[socket.socket] = []

    async def act(port: int) -> None:
        silent.append(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
        silent[0].sendall(GET[:-2])
        # Who came later has been served, so the other one is there.
        assert await ask(port)

    serve(tmp_path, act)
    with silent[0], suppress(ConnectionResetError):
        assert silent[0].recv(1) == b""
