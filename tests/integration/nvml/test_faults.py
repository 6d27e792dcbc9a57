"""A broken GPU, as NVML shows it."""

from typing import Any

import pytest

from nvshare.errors import BadInputError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.fault import XID_LOST, refuse_answers, set_fault, steal_memory


def recovery_action(nvml: Any, handle: Any) -> int:
    (field,) = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION])
    return int(field.value.uiVal)


def watch(nvml: Any) -> Any:
    events = nvml.nvmlEventSetCreate()
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
    return events


def test_an_xid_is_told_once_to_those_who_wait_for_it(nvml: Any, node: Node) -> None:
    events = watch(nvml)
    set_fault(node, 1, 48, needs_reset=True)
    event = nvml.nvmlEventSetWait_v2(events, 1000)
    assert event.eventType == nvml.nvmlEventTypeXidCriticalError
    assert event.eventData == 48
    assert nvml.nvmlDeviceGetIndex(event.device) == 1
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 20)
    nvml.nvmlEventSetFree(events)


def test_a_lost_gpu_answers_nothing_until_it_is_mended(nvml: Any, node: Node) -> None:
    lost, well = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    set_fault(node, 0, XID_LOST, needs_reset=True)
    with pytest.raises(nvml.NVMLError_GpuIsLost):
        nvml.nvmlDeviceGetMemoryInfo(lost)
    assert nvml.nvmlDeviceGetMemoryInfo(well).total > 0
    set_fault(node, 0, 0, needs_reset=False)
    assert nvml.nvmlDeviceGetMemoryInfo(lost).total > 0
    assert recovery_action(nvml, lost) == 0


def test_a_gpu_of_which_nvml_tells_nothing(nvml: Any, node: Node) -> None:
    silent, well = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    refuse_answers(node, 0, refuses=True)
    for ask in (nvml.nvmlDeviceGetUUID, nvml.nvmlDeviceGetComputeRunningProcesses):
        with pytest.raises(nvml.NVMLError_NotSupported):
            ask(silent)
    assert nvml.nvmlDeviceGetMemoryInfo(well).total > 0
    refuse_answers(node, 0, refuses=False)
    assert nvml.nvmlDeviceGetMemoryInfo(silent).total > 0


def test_who_needs_a_reset(nvml: Any, node: Node) -> None:
    broken, shaken = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    set_fault(node, 0, 48, needs_reset=True)
    set_fault(node, 1, 31, needs_reset=False)
    assert recovery_action(nvml, broken) == 1
    assert recovery_action(nvml, shaken) == 0
    set_fault(node, 0, 0, needs_reset=False)
    assert recovery_action(nvml, broken) == 0


def test_a_gpu_that_is_not_there(node: Node) -> None:
    with pytest.raises(BadInputError, match="has no GPU 2"):
        set_fault(node, 2, 48, needs_reset=True)


def test_memory_that_somebody_else_holds(nvml: Any, node: Node) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(1)
    before = nvml.nvmlDeviceGetMemoryInfo(handle).free
    steal_memory(node, 1, 64 << 20)
    assert nvml.nvmlDeviceGetMemoryInfo(handle).free == before - (64 << 20)
    steal_memory(node, 1, 1 << 50)
    assert nvml.nvmlDeviceGetMemoryInfo(handle).free == 0
    steal_memory(node, 1, 0)
    assert nvml.nvmlDeviceGetMemoryInfo(handle).free == before
