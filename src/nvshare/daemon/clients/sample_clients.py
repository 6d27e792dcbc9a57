"""Samples clients: each that has been active, once a second, for its last minute (last_minute.py).

The time of the others goes on as before, so their samples in between follow from those before and
after.
"""

import asyncio

from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.clients import Clients
from nvshare.daemon.clients.last_minute import PERIOD, Sample
from nvshare.daemon.executor import Executor

# How many clients are sampled before the event loop runs again.
_AT_ONCE = 20


def sample(executor: Executor, client: Client, now: float) -> Sample:
    """Sample a client."""
    counters = client.counters
    return Sample(
        now=now,
        # In the order of PARTS, which is that in which they are counted.
        spent=tuple(executor.times.spent(client.id, now).values()),
        launches=counters.told.launches,
        moved_in=counters.moved_in,
        moved_out=counters.moved_out,
    )


async def sample_clients(executor: Executor, clients: Clients) -> None:
    """Sample once a second; a few clients per round, since others wait for their turns."""
    while True:
        heard = list(executor.times.take_heard())
        for first in range(0, len(heard), _AT_ONCE):
            now = executor.now()
            for number in heard[first : first + _AT_ONCE]:
                # It may have left meanwhile.
                if (client := clients.get(number)) is not None:
                    client.last_minute.note(sample(executor, client, now))
            await asyncio.sleep(0)
        await asyncio.sleep(PERIOD)
