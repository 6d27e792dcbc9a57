"""Fixtures for tests of the daemon's parts."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare import kernel
from nvshare.daemon.clients import session as session_module
from nvshare.daemon.tenants.identity import Identity

from .stage import Stage


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stage]:
    who = Identity(7, 0, 0, "train.py", "", "a" * 64)
    monkeypatch.setattr(session_module, "identify", lambda *_: who)
    # Its process is this one.
    own = kernel.pidfd_open(os.getpid())
    monkeypatch.setattr(kernel, "pidfd_open", lambda _: os.dup(own))
    loop = asyncio.new_event_loop()
    stage = Stage(loop, tmp_path)
    yield stage
    for client in stage.clients:
        client.close()
    stage.node.close()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    os.close(own)
