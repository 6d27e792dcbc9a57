import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.daemon.logs import Background, Throttle, fields, set_up

log = logging.getLogger("nvshare.test")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the logger as it was."""
    parent = logging.getLogger("nvshare")
    yield
    for handler in parent.handlers[:]:
        parent.removeHandler(handler)
        handler.close()
    parent.propagate = True


def finish() -> None:
    for handler in logging.getLogger("nvshare").handlers:
        handler.close()


def test_text(tmp_path: Path) -> None:
    file = tmp_path / "log"
    set_up("info", "text", str(file))
    log.debug("quiet")
    log.info("client joined", extra=fields(client=3, program="a b", pod="", path="/x"))
    log.warning("careful")
    finish()
    first, second = file.read_text().splitlines()
    assert first.split(" ", 1)[1] == 'info msg="client joined" client=3 program="a b" path=/x'
    assert second.split(" ", 1)[1] == "warn msg=careful"


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "log"
    set_up("warn", "json", str(file))
    try:
        raise ValueError("oh")
    except ValueError:
        log.exception("it broke", extra=fields(client=3))
    finish()
    line = json.loads(file.read_text())
    assert (line["level"], line["msg"], line["client"]) == ("error", "it broke", 3)
    assert "ValueError: oh" in line["traceback"]
    assert line["time"].endswith("Z")


def test_a_warning_in_a_loop_is_throttled() -> None:
    throttle = Throttle()

    def line(second: int, level: int = logging.WARNING) -> logging.LogRecord:
        return logging.makeLogRecord({"msg": "again", "created": second, "levelno": level})

    assert sum(throttle.filter(line(1)) for _ in range(1000)) == 20
    later = line(2)
    assert throttle.filter(later)
    assert vars(later)["fields"] == {"not_shown": 980}
    assert all(throttle.filter(line(3, logging.INFO)) for _ in range(1000))


def test_one_process_does_not_fill_the_log() -> None:
    throttle = Throttle()

    def line(second: float, pid: int | None) -> logging.LogRecord:
        made = {"msg": "client joined", "created": second, "levelno": logging.INFO}
        return logging.makeLogRecord({**made, **fields(pid=pid)})

    # A thousand clients may come, and go.
    assert all(throttle.filter(line(1, 7)) for _ in range(2000))
    assert sum(throttle.filter(line(1, 7)) for _ in range(10_000)) == 500
    assert sum(throttle.filter(line(2, 7)) for _ in range(10_000)) == 20
    assert throttle.filter(line(2, 8))
    other = line(3, None)
    other.msg = "settings changed"
    assert throttle.filter(other)
    assert vars(other)["fields"] == {"not_shown_of_processes": 9_500 + 9_980}


def test_neither_do_many_processes_of_one_tenant() -> None:
    throttle = Throttle()

    def passes(second: float, pid: int, payer: str) -> bool:
        made = {"msg": "client joined", "created": second, "levelno": logging.INFO}
        return throttle.filter(logging.makeLogRecord({**made, **fields(pid=pid, payer=payer)}))

    assert sum(passes(1, pid, "user 7") for pid in range(9_000)) == 5_000
    assert sum(passes(2, pid, "user 7") for pid in range(9_000)) == 40
    assert passes(2, 1, "user 8")


def test_a_clock_that_is_set_back_hushes_nobody() -> None:
    throttle = Throttle()

    def line(second: float) -> logging.LogRecord:
        made = {"msg": "client joined", "created": second, "levelno": logging.INFO}
        return logging.makeLogRecord({**made, **fields(pid=7)})

    assert throttle.filter(line(100_000))
    assert throttle.filter(line(50_000))
    # A throttled client is heard again as soon as otherwise.
    assert sum(throttle.filter(line(50_000)) for _ in range(10_000)) == 2498
    assert not throttle.filter(line(10_000))
    assert throttle.filter(line(10_001))


def test_a_line_stays_one_line(tmp_path: Path) -> None:
    file = tmp_path / "log"
    set_up("info", "text", str(file))
    log.info("a\nb", extra=fields(program="x\ny"))
    finish()
    assert len(file.read_text().splitlines()) == 1


def test_a_pipe_that_nobody_reads_holds_nobody_up() -> None:
    readable, writable = os.pipe()
    said: list[bytes] = []

    def read() -> None:
        with os.fdopen(readable, "rb") as stream:
            said.extend(stream)

    reader = threading.Thread(target=read)
    with os.fdopen(writable, "w") as stream:
        handler = Background(logging.StreamHandler(stream))
        record = logging.makeLogRecord({"msg": "x" * 1000})
        for _ in range(11_000):
            handler.emit(record)
        reader.start()
        handler.close()
    reader.join()
    assert 10_000 < len(said) < 11_000
    assert b"lines lost\n" in said
