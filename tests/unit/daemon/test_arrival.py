import asyncio

import pytest

from nvshare.daemon import arrival
from nvshare.daemon.devices import Gpu
from nvshare.errors import NvshareError

GPU = Gpu(0, "GPU-0", "T", 1)


class Machine:
    """Has no GPU at first."""

    def __init__(self, after: int) -> None:
        self.looks = 0
        self._after = after

    def find_gpus(self) -> list[Gpu]:
        self.looks += 1
        if self.looks <= self._after:
            raise NvshareError("no GPU can be found on this machine", why="NVML: not found")
        return [GPU]


def test_without_gpus_a_daemon_starts_only_if_it_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "find_gpus", Machine(after=9).find_gpus)
    assert arrival.gpus_so_far(wait=True) == []
    with pytest.raises(NvshareError, match="no GPU"):
        arrival.gpus_so_far(wait=False)


def test_gpus_are_looked_for_until_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(after=3)
    monkeypatch.setattr(arrival, "find_gpus", machine.find_gpus)
    assert asyncio.run(arrival.await_gpus(pause=0.0)) == [GPU]
    assert machine.looks == 4
