"""Sockets that are removed while the daemon lives are made again."""

import asyncio
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nvshare.daemon.sockets.folders import Folder
from nvshare.daemon.sockets.listeners import Listeners, Shut

NAME = "nvshare.sock"


class Served:
    """The sockets that are served, and a count of those that were."""

    def __init__(self) -> None:
        self.open: list[socket.socket] = []
        self.shut = 0

    async def serve(self, sock: socket.socket) -> Shut:
        self.open.append(sock)

        async def shut() -> None:
            self.shut += 1
            self.open.remove(sock)
            sock.close()

        return shut


Journal = Callable[[Path, Served], Awaitable[None]]


def play(path: Path, journal: Journal, *, is_over: Callable[[], bool] = lambda: False) -> Served:
    served = Served()

    async def run() -> None:
        with Folder(path, mode=0o600, group="") as folder:
            listeners = Listeners(is_over=is_over, glance=0.005)
            await listeners.open(folder, NAME, 0o600, served.serve)
            following = asyncio.create_task(listeners.follow())
            await journal(path, served)
            following.cancel()
            await listeners.close()

    asyncio.run(asyncio.wait_for(run(), 30))
    return served


def is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path / NAME))
        except OSError:
            return False
        return True


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.005)


def remove(path: Path) -> None:
    (path / NAME).unlink()


def pose(path: Path) -> None:
    (path / NAME).unlink()
    (path / NAME).write_text("not a socket")


@pytest.mark.parametrize("spoil", [remove, pose])
def test_a_socket_that_was_removed_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    async def journal(path: Path, served: Served) -> None:
        assert is_answered(path)
        spoil(path)
        await until(lambda: is_answered(path))
        # The one that no client can find is closed.
        await until(lambda: served.shut == 1)

    served = play(tmp_path / "d", journal)
    assert (served.open, served.shut) == ([], 2)
    assert caplog.messages == ["a socket was removed, and is there again"]
    assert list((tmp_path / "d").iterdir()) == []


def test_one_that_cannot_be_made_again_is_told_of_once_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def journal(path: Path, _: Served) -> None:
        (path / NAME).unlink()
        # A folder, which cannot be unlinked, is in its place.
        (path / NAME).mkdir()
        await until(lambda: bool(caplog.messages))
        await asyncio.sleep(0.05)
        assert caplog.messages == ["a socket was removed and cannot be made again"]
        (path / NAME).rmdir()
        await until(lambda: is_answered(path))

    play(tmp_path / "d", journal)


def test_so_is_its_folder(tmp_path: Path) -> None:
    async def journal(path: Path, served: Served) -> None:
        shutil.rmtree(path)
        await until(lambda: is_answered(path))
        # The one that no client can find is closed.
        await until(lambda: served.shut == 1)
        shutil.rmtree(path)
        await until(lambda: is_answered(path) and served.shut == 2)

    assert play(tmp_path / "a" / "d", journal).shut == 3


def test_a_folder_that_cannot_be_made_again_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def journal(path: Path, _: Served) -> None:
        shutil.rmtree(path)
        path.touch()
        await until(lambda: bool(caplog.messages))
        path.unlink()
        await until(lambda: is_answered(path))

    play(tmp_path / "d", journal)


def test_nothing_is_made_again_by_a_daemon_that_is_about_to_end(tmp_path: Path) -> None:
    async def journal(path: Path, _: Served) -> None:
        shutil.rmtree(path)
        await asyncio.sleep(0.05)
        assert not path.exists()

    assert play(tmp_path / "d", journal, is_over=lambda: True).shut == 1


def test_what_somebody_else_has_put_there_is_not_removed_at_the_end(tmp_path: Path) -> None:
    async def run() -> None:
        served = Served()
        with Folder(tmp_path, mode=0o600, group="") as folder:
            listeners = Listeners()
            await listeners.open(folder, NAME, 0o600, served.serve)
            pose(tmp_path)
            await listeners.close()

    asyncio.run(run())
    assert (tmp_path / NAME).read_text() == "not a socket"
