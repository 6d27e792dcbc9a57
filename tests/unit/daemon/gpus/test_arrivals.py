from pathlib import Path

import pytest

from nvshare.daemon.gpus import arrivals as arrival
from nvshare.daemon.gpus.arrivals import Arrivals, choose, gpus_so_far
from nvshare.daemon.gpus.survey import Gpu, Missing, Survey
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.holders import Holder, TakenError
from nvshare.settings import DeviceSettings

from ..stage import GPU, Stage

OTHER = Gpu(1, "GPU-00000000-0000-0000-0000-000000000002", "T", 16 << 30)
LOST = Missing(0, "NVML: GPU is lost")


def no_gpus() -> Survey:
    raise NvshareError("no GPU can be found on this machine", why="NVML: not found")


def test_without_gpus_a_daemon_starts_only_if_it_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "survey_gpus", no_gpus)
    monkeypatch.setattr(arrival, "find_gpus", no_gpus)
    assert gpus_so_far(wait=True) == Survey()
    with pytest.raises(NvshareError, match="no GPU can be found"):
        gpus_so_far(wait=False)


@pytest.mark.parametrize(
    ("names", "indexes"), [((), [0, 1]), (("1",), [1]), ((GPU.uuid,), [0]), (("0", "1"), [0, 1])]
)
def test_some_gpus_can_be_chosen(names: tuple[str, ...], indexes: list[int]) -> None:
    assert [gpu.index for gpu in choose(Survey((GPU, OTHER)), names).gpus] == indexes


def test_a_gpu_that_is_not_there_cannot_be_chosen() -> None:
    with pytest.raises(BadInputError, match="there is no GPU 7"):
        choose(Survey((GPU, OTHER)), ("0", "7"))


def test_a_gpu_that_is_lost_can_be_chosen() -> None:
    assert choose(Survey((OTHER,), (LOST,)), ("0",)) == Survey((), (LOST,))
    # While a GPU is lost, it is not known which one it is.
    assert choose(Survey((OTHER,), (LOST,)), (GPU.uuid,)) == Survey()


class Machine:
    """Shares the GPUs that a test sets, and is refused those set as taken."""

    def __init__(self, stage: Stage) -> None:
        self.found = Survey((GPU,))
        self.taken: set[str] = set()
        self.node = stage.node
        gpus, outages = stage.node.gpus, stage.node.outages
        self.arrivals = Arrivals(gpus, outages, (), self.admit, lambda: self.found)
        self._stage = stage

    async def admit(self, gpu: Gpu) -> None:
        if gpu.uuid in self.taken:
            raise TakenError([Holder(gpu.uuid, 1, 0, "", gpu.index, Path("/x"))])
        self.node.add_gpu(gpu, DeviceSettings(), 0.0)

    def look(self, *found: Gpu | Missing) -> None:
        gpus = tuple(one for one in found if isinstance(one, Gpu))
        self.found = Survey(gpus, tuple(one for one in found if isinstance(one, Missing)))
        self._stage.run(self.arrivals.look())

    @property
    def shared(self) -> list[str]:
        return [gpu.uuid for gpu in self.node.gpus.all()]

    @property
    def absent(self) -> dict[int, str]:
        return {one.index: one.why for one in self.node.outages.all()}


@pytest.fixture
def machine(stage: Stage) -> Machine:
    return Machine(stage)


def test_gpus_that_come_later_are_shared(machine: Machine) -> None:
    machine.look(GPU, Missing(1, "NVML: GPU is lost"))
    assert machine.absent == {1: "NVML: GPU is lost"}
    machine.look(GPU, OTHER)
    assert (machine.shared, machine.absent) == (
        [GPU.uuid, OTHER.uuid],
        {},
    )


def test_a_gpu_that_another_daemon_has_is_shared_when_that_ends(machine: Machine) -> None:
    machine.taken = {OTHER.uuid}
    machine.look(GPU, OTHER)
    assert machine.shared == [GPU.uuid]
    assert "the daemon of root (pid 1, in /x) has GPU 1" in machine.absent[1]
    machine.taken = set()
    machine.look(GPU, OTHER)
    assert (machine.shared, machine.absent) == (
        [GPU.uuid, OTHER.uuid],
        {},
    )


def heard(stage: Stage) -> bytes:
    """All frames that the one client was sent since the last time."""
    stage.turn()
    (client,) = stage.clients
    client.setblocking(False)
    data = b""
    try:
        while piece := client.recv(1 << 16):
            data += piece
    except BlockingIOError:
        return data
    return data


def test_the_programs_of_a_gpu_that_is_lost_are_told_once(machine: Machine, stage: Stage) -> None:
    stage.join(1 << 30)
    assert b"cannot be used" not in heard(stage)
    machine.look(LOST)
    assert b"GPU 0 cannot be used (NVML: GPU is lost)" in heard(stage)
    machine.look(LOST)
    assert heard(stage) == b""
    assert machine.node.outages.of(GPU) is not None
    machine.look(GPU)
    assert machine.node.outages.of(GPU) is None


def test_who_comes_to_a_gpu_that_is_lost_is_told(machine: Machine, stage: Stage) -> None:
    machine.look(LOST)
    stage.join(1 << 30)
    assert b"GPU 0 cannot be used" in heard(stage)


@pytest.mark.parametrize("count", [0, 1])
def test_a_gpu_that_is_not_listed_any_more_is_lost(machine: Machine, count: int) -> None:
    machine.look(*[OTHER][:count])
    assert machine.absent == {0: "NVML no longer lists it"}


def test_an_nvml_that_fails_costs_all_gpus_until_it_is_back(machine: Machine, stage: Stage) -> None:
    node = machine.node
    failing = Arrivals(node.gpus, node.outages, (), machine.admit, no_gpus)
    stage.run(failing.look())
    assert machine.absent == {0: "NVML: not found"}
    machine.look(GPU)
    assert machine.absent == {}
