import asyncio
import errno
import socket
from pathlib import Path

import pytest

from nvshare.daemon.sockets import server as server_module
from nvshare.daemon.sockets.server import Server


class Listener:
    """A listening socket that fails to accept a given number of times."""

    def __init__(self, path: Path, failures: list[OSError]) -> None:
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.setblocking(False)
        self._sock.bind(str(path))
        self._sock.listen(128)
        self._failures = failures
        self.fileno = self._sock.fileno
        self.close = self._sock.close

    def accept(self) -> object:
        if self._failures:
            raise self._failures.pop()
        return self._sock.accept()


def accept_one(path: Path, failures: list[OSError]) -> None:
    async def act() -> None:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[socket.socket] = loop.create_future()

        def take(client: socket.socket) -> bool:
            arrived.set_result(client)
            return True

        server = Server(Listener(path, failures), loop, take)  # type: ignore[arg-type]
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(path))
        accepted = await asyncio.wait_for(arrived, 10)
        accepted.close()
        client.close()
        server.close()

    asyncio.run(act())


def test_a_client_arrives(tmp_path: Path) -> None:
    accept_one(tmp_path / "s", [])


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS])
def test_being_out_of_something_is_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(server_module, "_PAUSE", 0.01)
    accept_one(tmp_path / "s", [OSError(number, "out of it"), OSError(number, "out of it")])


def test_a_client_that_cannot_be_identified_is_sent_away_and_may_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_PAUSE", 0.01)

    async def act() -> None:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[socket.socket] = loop.create_future()
        failures = [OSError(errno.EMFILE, "Too many open files")]

        def take(client: socket.socket) -> bool:
            if failures:
                raise failures.pop()
            arrived.set_result(client)
            return True

        server = Server(Listener(tmp_path / "s", []), loop, take)  # type: ignore[arg-type]
        with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
            first.connect(str(tmp_path / "s"))
            first.setblocking(False)
            assert await loop.sock_recv(first, 1) == b""
            second.connect(str(tmp_path / "s"))
            (await asyncio.wait_for(arrived, 10)).close()
        server.close()

    asyncio.run(act())


def test_a_client_that_has_given_up_is_no_error(tmp_path: Path) -> None:
    accept_one(tmp_path / "s", [ConnectionAbortedError()])


def test_closing_during_a_pause(tmp_path: Path) -> None:
    async def act() -> None:
        loop = asyncio.get_running_loop()
        failures = [OSError(errno.EMFILE, "out of it")] * 9
        server = Server(Listener(tmp_path / "s", failures), loop, lambda _: True)  # type: ignore[arg-type]
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(tmp_path / "s"))
        while server._resuming is None:
            await asyncio.sleep(0)
        server.close()
        client.close()

    asyncio.run(act())


def test_refusing_takes_a_small_part_of_the_time_and_others_come_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test sets the time: refusing a connection takes a millisecond of it."""
    clock = [0.0]
    waited: list[float] = []

    async def act() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("time.thread_time", lambda: clock[0])
        monkeypatch.setattr(loop, "time", lambda: clock[0])
        real = loop.call_later

        def call_later(delay: float, callback: object, *args: object) -> asyncio.TimerHandle:
            waited.append(delay)
            clock[0] += delay
            return real(0, callback, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(loop, "call_later", call_later)
        let_in = []

        def take(client: socket.socket) -> bool:
            client.close()
            clock[0] += 0.001
            let_in.append(len(refused) == 100)
            refused.append(1)
            return let_in[-1]

        refused: list[int] = []
        listener = Listener(tmp_path / "s", [])
        clients = [socket.socket(socket.AF_UNIX) for _ in range(101)]
        for client in clients:
            client.connect(str(tmp_path / "s"))
        server = Server(listener, loop, take)  # type: ignore[arg-type]
        while not any(let_in):
            await asyncio.sleep(0)
        for client in clients:
            client.close()
        server.close()

    asyncio.run(act())
    # A hundred of them took a small part of the time, apart from the first few.
    assert sum(waited) > 0.08 / 0.05
