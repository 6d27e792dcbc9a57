"""Which clients are sampled for their last minute."""

import asyncio

import pytest

from nvshare.daemon.clients import sample_clients as sample_module
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.last_minute import Sample
from nvshare.daemon.clients.sample_clients import sample_clients
from nvshare.daemon.executor import Executor
from nvshare.wire import frames

from ..stage import Stage


def test_those_are_sampled_of_whom_anything_was_heard(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_module, "PERIOD", 0.01)
    sampled: list[int] = []
    sample = sample_module.sample

    def count(executor: Executor, client: Client, now: float) -> Sample:
        sampled.append(client.id)
        return sample(executor, client, now)

    stage.join(1)
    stage.join(1)
    monkeypatch.setattr(sample_module, "sample", count)

    node = stage.node

    async def scene() -> None:
        following = asyncio.ensure_future(sample_clients(node.executor, node.clients))
        await asyncio.sleep(0.05)
        assert sorted(sampled) == [1, 2]
        stage.clients[1].send(frames.Usage(1, 1, 0, 0).pack())
        while len(sampled) < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        following.cancel()

    stage.run(scene())
    assert sorted(sampled) == [1, 2, 2]
