"""The library under daemons of an earlier and of a later version: it stays managed."""

import json
from collections.abc import Callable

import pytest

from nvshare.wire.frames import (
    HEADER,
    MAGIC,
    VERSION,
    FromDaemon,
    Grant,
    Hello,
    LimitFlags,
    Limits,
    Released,
    Revoke,
    SettingFlags,
    Settings,
    Urgency,
    Want,
    Welcome,
)
from tools.record_frames import FOLDER

from .conftest import StartGuest
from .scripted import Scripted

GIB = 1 << 30
RECORDED = json.loads((FOLDER / "2026-11-16.json").read_text(encoding="utf-8"))


def earlier(frame: FromDaemon) -> bytes:
    """A frame of an earlier version: it ends before the fields that were added since."""
    length = HEADER.unpack_from(bytes.fromhex(RECORDED[type(frame).__name__]["bytes"]))[3]
    payload = frame.pack()[HEADER.size :][:length]
    return HEADER.pack(MAGIC, VERSION, frame.TYPE, len(payload), 0) + payload


def later(frame: FromDaemon) -> bytes:
    """A frame of a later version: longer, and after a frame of an unknown type."""
    payload = frame.pack()[HEADER.size :] + b"\xff" * 24
    unknown = HEADER.pack(MAGIC, VERSION, 250, 5, 0) + b"later"
    return unknown + HEADER.pack(MAGIC, VERSION, frame.TYPE, len(payload), 0) + payload


@pytest.mark.parametrize("written", [earlier, later])
def test_the_library_stays_managed(
    scripted: Scripted, start_guest: StartGuest, written: Callable[[FromDaemon], bytes]
) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch(10)')")
    link = scripted.accept()
    link.next(Hello)
    link.send_bytes(written(Welcome(1, "of another day")))
    link.send_bytes(written(Settings(50_000, 10_000, SettingFlags(0), usage_ms=0)))
    link.send_bytes(written(Limits(GIB, LimitFlags(0), 0, 0, 1_000_000, 1000)))
    assert link.told(Want).turn == 0
    assert not guest.ask("gpu.done(0, 0.1)")
    link.send_bytes(written(Grant(turn=7, fill_bytes=0)))
    assert guest.ask("gpu.done(0, 20)")
    # It has understood all of it: its limit, and the turn that it gives back.
    assert guest.ask(f"gpu.init() or gpu.alloc({2 * GIB})[0]") == 2
    link.send_bytes(written(Revoke(turn=7, urgency=Urgency.NOW, idle_us=0, evict_bytes=0)))
    assert link.told(Released).turn == 7
