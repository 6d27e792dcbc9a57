import asyncio
import errno
import logging

import pytest

from nvshare.daemon.sockets.loop_errors import LoopErrors


@pytest.fixture
def loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.close()
    return loop


def test_an_exception_is_told_with_where_it_came_from(
    loop: asyncio.AbstractEventLoop, caplog: pytest.LogCaptureFixture
) -> None:
    loop_errors = LoopErrors(lambda: 0.0)
    error = ValueError("oh")
    loop_errors(loop, {"message": "a callback has failed", "exception": error})
    loop_errors(loop, {"message": "something is odd"})
    first, second = caplog.records
    assert (first.levelno, first.msg) == (logging.ERROR, "a callback has failed")
    assert first.exc_info is not None
    assert first.exc_info[1] is error
    assert (second.msg, bool(second.exc_info)) == ("something is odd", False)


def test_a_lack_of_descriptors_is_told_once_in_a_while(
    loop: asyncio.AbstractEventLoop, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    loop_errors = LoopErrors(lambda: now)
    lack = OSError(errno.EMFILE, "Too many open files")
    for step in range(1000):
        now = step / 100
        loop_errors(loop, {"message": "socket.accept() out of system resource", "exception": lack})
    assert caplog.messages == ["no connection can be accepted for now"] * 2
    assert not any(record.exc_info for record in caplog.records)
