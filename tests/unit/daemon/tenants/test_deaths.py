"""Processes that end, on a real event loop."""

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nvshare import kernel
from nvshare.daemon.tenants.deaths import Deaths
from nvshare.daemon.tenants.identity import Identity, life

Scene = Callable[[Deaths, "subprocess.Popen[bytes]", Identity], Awaitable[None]]


class Connection:
    """Notes why it was closed."""

    def __init__(self) -> None:
        self.why: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def close(self, why: str) -> None:
        self.why.set_result(why)

    async def ends(self) -> str:
        return await asyncio.wait_for(self.why, 20)


def play(scene: Scene) -> None:
    """Act with a process that ends when it is told to; no descriptor is left."""

    async def act() -> None:
        sleeps = [sys.executable, "-S", "-c", "input()"]
        with subprocess.Popen(sleeps, stdin=subprocess.PIPE) as process:
            who = Identity(process.pid, os.getuid(), os.getgid(), started=life(process.pid)[0])
            before = open_files()
            await scene(Deaths(asyncio.get_running_loop()), process, who)
            assert open_files() == before
            process.kill()

    asyncio.run(act())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_all_connections_of_a_process_end_with_it() -> None:
    async def scene(deaths: Deaths, process: "subprocess.Popen[bytes]", who: Identity) -> None:
        own = Identity(os.getpid(), 0, 0, started=life(os.getpid())[0])
        connections, other = [Connection(), Connection()], Connection()
        for connection in connections:
            deaths.follow(who, connection)
        deaths.follow(own, other)
        process.kill()
        for connection in connections:
            assert await connection.ends() == "its process has ended"
            deaths.forget(who, connection)
        assert not other.why.done()
        deaths.forget(own, other)

    play(scene)


def test_one_that_has_ended_before() -> None:
    async def scene(deaths: Deaths, process: "subprocess.Popen[bytes]", who: Identity) -> None:
        process.kill()
        process.wait()
        connection = Connection()
        deaths.follow(who, connection)
        assert await connection.ends()
        deaths.forget(who, connection)

    play(scene)


def test_a_pid_that_is_another_process_by_now() -> None:
    async def scene(deaths: Deaths, _: "subprocess.Popen[bytes]", who: Identity) -> None:
        earlier, connection = replace(who, started=who.started - 1), Connection()
        deaths.follow(earlier, connection)
        assert await connection.ends()
        deaths.forget(earlier, connection)

    play(scene)


def test_a_connection_that_has_ended_is_not_ended_again() -> None:
    async def scene(deaths: Deaths, process: "subprocess.Popen[bytes]", who: Identity) -> None:
        first, second = Connection(), Connection()
        deaths.follow(who, first)
        deaths.follow(who, second)
        deaths.forget(who, first)
        process.kill()
        assert await second.ends()
        assert not first.why.done()
        deaths.forget(who, second)

    play(scene)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EMFILE, errno.EPERM])
def test_without_such_a_descriptor_the_connection_stays(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(_: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kernel, "pidfd_open", fail)

    async def scene(deaths: Deaths, _: "subprocess.Popen[bytes]", who: Identity) -> None:
        connection = Connection()
        deaths.follow(who, connection)
        deaths.follow(replace(who, pid=0), connection)
        deaths.forget(who, connection)
        assert not connection.why.done()

    play(scene)
