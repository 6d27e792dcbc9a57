"""NVML's errors, as those see them who ask it about one GPU."""

import pynvml
import pytest

from nvshare.daemon.gpus import nvml as nvml_module
from nvshare.daemon.gpus.nvml import LostGpuError, ask_nvml
from nvshare.daemon.usage.footprint import nvml_footprints
from nvshare.daemon.usage.gpu_time import nvml_samples
from nvshare.daemon.usage.outsiders import nvml_holdings
from nvshare.daemon.usage.watch_thrashing import nvml_utilisation


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml_module, "open_nvml", lambda: None)


def fail_with(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(_: str) -> None:
        raise pynvml.NVMLError(code)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", fail)


def test_a_handle_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda uuid: f"handle of {uuid}")
    with ask_nvml("GPU-1") as (nvml, handle):
        assert (nvml, handle) == (pynvml, "handle of GPU-1")


def test_any_error_means_that_it_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, pynvml.NVML_ERROR_NOT_SUPPORTED)
    for ask in (nvml_footprints, nvml_holdings, lambda uuid: nvml_samples(uuid, 0)):
        with pytest.raises(OSError, match="Not Supported") as caught:
            ask("GPU-1")
        assert not isinstance(caught.value, LostGpuError)
    assert nvml_utilisation("GPU-1") is None


def test_a_lost_gpu_has_nothing_to_tell_for_now(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, pynvml.NVML_ERROR_GPU_IS_LOST)
    assert nvml_footprints("GPU-1") == {}
    assert nvml_samples("GPU-1", 0) == {}
    with pytest.raises(LostGpuError):
        nvml_holdings("GPU-1")


@pytest.mark.parametrize("code", ["NOT_FOUND", "INSUFFICIENT_SIZE"])
def test_samples_that_cannot_be_read_yet_are_read_later(
    monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    def fail(*_: object) -> None:
        raise pynvml.NVMLError(getattr(pynvml, f"NVML_ERROR_{code}"))

    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda _: "a handle")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetProcessUtilization", fail)
    assert nvml_samples("GPU-1", 0) == {}
