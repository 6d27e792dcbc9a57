"""The daemon's log: one line per event, as key=value or as JSON.

A line is ``log.info("client joined", extra=fields(client=3, program="train.py"))``.

A thread writes the lines, so that a full disk or a pipe without a reader delays no client. If it
does not keep up, lines are lost, and their number is logged.
"""

import contextlib
import json
import logging
import queue
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Literal

_MOST_WAITING = 10_000
_PATIENCE = 2.0
_PER_SECOND = 20
_LINES_AT_ONCE = 2500
_MANY_PROCESSES = 1_000
_PLAIN = re.compile(r"[\w./:@%+-]+")


def fields(*, payer: str = "", **values: Any) -> dict[str, Any]:
    """Return the fields of a line beside its text. Empty values are left out.

    ``payer``, which is not shown, is the tenant whose processes share a bound on lines.
    """
    shown = {key: value for key, value in values.items() if value not in (None, "")}
    return {"fields": shown, "payer": payer}


def set_up(level: str, form: Literal["text", "json"], file: str) -> None:
    """Start logging to a file, or to standard error."""
    handler: logging.Handler
    handler = logging.FileHandler(file) if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    log = logging.getLogger("nvshare")
    for old in log.handlers[:]:
        log.removeHandler(old)
        old.close()
    background = Background(handler)
    background.addFilter(Throttle())
    log.addHandler(background)
    log.setLevel({"warn": "WARNING"}.get(level, level.upper()))
    log.propagate = False


class Throttle(logging.Filter):
    """Lets the same line through only a few times per second: a client can be in a loop.

    A process gets as many lines as a thousand clients need to join and to leave, and a few per
    second after that. All processes of one payer together get twice as many.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[int, int]] = {}
        # By process and payer, the time of the last update and the lines used by then; and the
        # number of dropped lines.
        self._lines: dict[Any, tuple[float, float]] = {}
        self._forget_at = _MANY_PROCESSES
        self._hushed = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Count a line; a line that comes after others were dropped says how many."""
        if not self._is_heard(record):
            self._hushed += 1
            return False
        if self._hushed and "pid" not in getattr(record, "fields", {}):
            _add(record, not_shown_of_processes=self._hushed)
            self._hushed = 0
        return self._passes(record)

    def _is_heard(self, record: logging.LogRecord) -> bool:
        """Whether the process of a line, and its payer, have lines left."""
        pid = getattr(record, "fields", {}).get("pid")
        if pid is None:
            return True
        payer = getattr(record, "payer", "")
        return self._has_left(pid, record.created, 1) and (
            not payer or self._has_left(payer, record.created, 2)
        )

    def _has_left(self, who: Any, now: float, times: int) -> bool:
        """Take a line from a budget of ``times`` that of a process."""
        if who not in self._lines and len(self._lines) >= self._forget_at:
            self._forget(now)
        at, used = self._lines.get(who, (now, 0.0))
        # If the clock is set back, lines must not stop until it has caught up.
        used = max(0.0, used - max(0.0, now - at) * _PER_SECOND * times)
        if used >= _LINES_AT_ONCE * times:
            if now < at:
                self._lines[who] = (now, used)
            return False
        self._lines[who] = (now, used + 1)
        return True

    def _forget(self, now: float) -> None:
        """Forget processes and payers with full budgets."""
        owing = (one for one in self._lines.items() if one[1][1] > (now - one[1][0]) * _PER_SECOND)
        self._lines = dict(owing)
        self._forget_at = max(_MANY_PROCESSES, 2 * len(self._lines))

    def _passes(self, record: logging.LogRecord) -> bool:
        second = int(record.created)
        last, count = self._seen.get(record.msg, (second, 0))
        if last != second:
            if count > _PER_SECOND:
                _add(record, not_shown=count - _PER_SECOND)
            count = 0
        self._seen[record.msg] = (second, count + 1)
        return count < _PER_SECOND or record.levelno != logging.WARNING


def _add(record: logging.LogRecord, **more: Any) -> None:
    record.__dict__["fields"] = {**getattr(record, "fields", {}), **more}


class Background(logging.Handler):
    """Passes lines to another handler in a thread."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler
        self._waiting: queue.Queue[logging.LogRecord | None] = queue.Queue(_MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line."""
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self._lost += 1

    def close(self) -> None:
        """Write what is left, unless that takes too long."""
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=_PATIENCE)
            self._thread.join(timeout=_PATIENCE)
        if not self._thread.is_alive():
            self._handler.close()
        super().close()

    def _write(self) -> None:
        while (record := self._waiting.get()) is not None:
            self._handler.handle(record)
            lost, self._lost = self._lost, 0
            if lost:
                self._handler.handle(_confession(lost))


def _confession(lost: int) -> logging.LogRecord:
    record = logging.LogRecord("nvshare.log", logging.WARNING, "", 0, "lines lost", None, None)
    record.__dict__.update(fields(count=lost))
    return record


class TextFormatter(logging.Formatter):
    """2026-01-02T03:04:05.678Z info msg="client joined" client=3 pid=4711."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        pairs = " ".join(f"{key}={_quote(value)}" for key, value in _pairs(self, record).items())
        return f"{_time(record)} {_level(record)} {pairs}"


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        line = {"time": _time(record), "level": _level(record), **_pairs(self, record)}
        return json.dumps(line, default=str)


def _pairs(formatter: logging.Formatter, record: logging.LogRecord) -> Mapping[str, Any]:
    pairs = {"msg": record.getMessage(), **getattr(record, "fields", {})}
    if record.exc_info:
        pairs["traceback"] = formatter.formatException(record.exc_info)
    return pairs


def _quote(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03d}Z"


def _level(record: logging.LogRecord) -> str:
    return "warn" if record.levelno == logging.WARNING else record.levelname.lower()
