from types import SimpleNamespace
from typing import Any

import pytest

from nvshare.daemon.gpus.survey import Gpu, Missing, find_gpus, survey_gpus, uuid_bytes
from nvshare.errors import NvshareError

MIB = 1 << 20
UUID = "GPU-00112233-4455-6677-8899-aabbccddeeff"


class FakeNvml:
    """The part of pynvml that is used."""

    class NVMLError(Exception):
        pass

    nvmlMemory_v2 = 2  # noqa: N815

    def __init__(
        self,
        gpus: int = 2,
        *,
        reserved: int | None = 400,
        starts: bool = True,
        lost: int | None = None,
    ) -> None:
        self._lost = lost
        self._gpus, self._reserved, self._starts = gpus, reserved, starts
        self.ended = False

    def nvmlInit(self) -> None:  # noqa: N802
        if not self._starts:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.ended = True

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return self._gpus

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802
        if handle == self._lost:
            raise self.NVMLError("GPU is lost")
        return f"{UUID[:-1]}{handle}"

    def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802
        return f"card {handle}"

    def nvmlDeviceGetMemoryInfo(self, handle: int, version: int = 1) -> Any:  # noqa: ARG002, N802
        if version == 2 and self._reserved is None:
            raise self.NVMLError("Function Not Found")
        reserved = self._reserved or 0
        return SimpleNamespace(total=16000 * MIB, reserved=reserved * MIB)


def use(monkeypatch: pytest.MonkeyPatch, nvml: FakeNvml) -> FakeNvml:
    monkeypatch.setitem(__import__("sys").modules, "pynvml", nvml)
    return nvml


def test_gpus_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = use(monkeypatch, FakeNvml())
    first, second = find_gpus()
    assert first == Gpu(0, f"{UUID[:-1]}0", "card 0", 15600 * MIB)
    assert second.key == bytes.fromhex("00112233445566778899aabbccddeef1")
    assert nvml.ended


def test_an_older_driver_does_not_tell_what_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeNvml(reserved=None))
    assert find_gpus()[0].memory == 16000 * MIB


def test_a_lost_gpu_costs_that_gpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = use(monkeypatch, FakeNvml(lost=1))
    found = survey_gpus()
    assert [gpu.index for gpu in found.gpus] == [0]
    assert found.missing == (Missing(1, "NVML: GPU is lost"),)
    assert nvml.ended
    assert find_gpus() == list(found.gpus)


def test_a_machine_all_of_whose_gpus_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeNvml(1, lost=0))
    with pytest.raises(NvshareError, match="no GPU of this machine can be used") as caught:
        find_gpus()
    assert caught.value.why == "GPU 0: NVML: GPU is lost"


@pytest.mark.parametrize(
    ("nvml", "complaint"),
    [(FakeNvml(starts=False), "no GPU can be found"), (FakeNvml(0), "there is no GPU")],
)
def test_no_gpu_is_explained(
    monkeypatch: pytest.MonkeyPatch, nvml: FakeNvml, complaint: str
) -> None:
    use(monkeypatch, nvml)
    with pytest.raises(NvshareError, match=complaint):
        find_gpus()


def test_uuids() -> None:
    assert uuid_bytes(UUID) == uuid_bytes(UUID.replace("GPU", "MIG"))
    assert uuid_bytes(UUID)[:4] == b"\x00\x11\x22\x33"
