"""NVML's memory, utilisation and processes, with programs on the node."""

import ctypes
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nvshare.lab.emulator.conf import Conf
from nvshare.lab.emulator.emulated_node import Node

if TYPE_CHECKING:
    import subprocess

MakeNode = Callable[..., Node]
Guest = Callable[..., "subprocess.Popen[str]"]
Eventually = Callable[[Callable[[], bool]], None]

MIB = 1024**2
BLOCK = 2 * MIB
SECOND = 10**9


def test_memory_of_an_idle_gpu(nvml: Any, conf: Conf) -> None:
    total, usable = (int(conf.gpus[0][key]) for key in ("memory_bytes", "usable_bytes"))
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    first = nvml.nvmlDeviceGetMemoryInfo(handle)
    assert (first.total, first.free, first.used) == (total, usable, total - usable)
    second = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    assert (second.total, second.free, second.used) == (total, usable, 0)
    assert second.reserved == total - usable


def test_memory_and_processes_add_up(nvml: Any, conf: Conf, node: Node, guest: Guest) -> None:
    context, usable = (int(conf.gpus[1][key]) for key in ("context_bytes", "usable_bytes"))
    one = guest(node, gpu=1, plain_bytes=100 * MIB)
    two = guest(node, gpu=1, contexts=2, plain_bytes=MIB, blocks=7)
    guest(node, gpu=1, contexts=0)
    handle = nvml.nvmlDeviceGetHandleByIndex(1)
    expected = {
        one.pid: context + 100 * MIB,
        two.pid: 2 * context + MIB,  # managed memory belongs to no process
    }
    for version in ("", "_v2", "_v3"):
        question = getattr(nvml, f"nvmlDeviceGetComputeRunningProcesses{version}")
        assert {info.pid: info.usedGpuMemory for info in question(handle)} == expected
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    assert memory.used == sum(expected.values()) + 64 * BLOCK  # but it is used
    assert memory.free == usable - memory.used
    assert memory.total == memory.reserved + memory.used + memory.free
    other = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceGetComputeRunningProcesses(other) == []
    for kind in ("Graphics", "MPSCompute"):
        assert getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses")(handle) == []


def test_the_list_of_processes_tells_how_much_room_it_needs(
    nvml: Any, node: Node, guest: Guest
) -> None:
    processes = [guest(node) for _ in range(2)]
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    for name, struct in (
        ("nvmlDeviceGetComputeRunningProcesses", ctypes.c_ulonglong * 2),
        ("nvmlDeviceGetComputeRunningProcesses_v3", nvml.c_nvmlProcessInfo_v3_t),
    ):
        question = nvml._nvmlGetFunctionPointer(name)
        for room, result in ((0, nvml.NVML_ERROR_INSUFFICIENT_SIZE), (1, 7), (2, 0), (5, 0)):
            count = ctypes.c_uint(room)
            infos = (struct * room)() if room else None
            assert question(handle, ctypes.byref(count), infos) == result
            assert count.value == 2
        assert infos is not None
        pids = [ctypes.c_uint.from_buffer(info).value for info in infos]
        assert set(pids) == {process.pid for process in processes} | {0}


def test_the_dead_leave(
    nvml: Any, conf: Conf, node: Node, guest: Guest, eventually: Eventually
) -> None:
    victim = guest(node, plain_bytes=100 * MIB, blocks=3)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    assert len(nvml.nvmlDeviceGetComputeRunningProcesses(handle)) == 1
    victim.send_signal(signal.SIGKILL)
    victim.wait(timeout=10)
    eventually(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle) == [])
    assert nvml.nvmlDeviceGetMemoryInfo(handle).free == int(conf.gpus[0]["usable_bytes"])


def test_the_next_user_of_the_slot_of_a_busy_dead_process_can_work(
    on_node: Any, make_node: MakeNode, guest: Guest, eventually: Eventually
) -> None:
    node = make_node("1xt4", speed=10)
    nvml = on_node(node)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    def is_at(percent: int) -> bool:
        return bool(nvml.nvmlDeviceGetUtilizationRates(handle).gpu == percent)

    victim = guest(node, busy_ns=1000 * SECOND)
    eventually(lambda: is_at(100))
    victim.kill()
    victim.wait(timeout=10)
    eventually(lambda: is_at(0))
    guest(node, busy_ns=1000 * SECOND)
    eventually(lambda: is_at(100))


def test_a_busy_gpu_looks_busy(
    on_node: Any, make_node: MakeNode, guest: Guest, conf: Conf, eventually: Eventually
) -> None:
    node = make_node("2xt4", speed=10)
    nvml = on_node(node)
    gpu = conf.gpus[0]
    process = guest(node, busy_ns=1000 * SECOND)
    busy, idle = (nvml.nvmlDeviceGetHandleByIndex(i) for i in range(2))
    eventually(lambda: nvml.nvmlDeviceGetUtilizationRates(busy).gpu == 100)
    assert nvml.nvmlDeviceGetUtilizationRates(idle).gpu == 0
    assert nvml.nvmlDeviceGetPowerUsage(busy) == int(gpu["power_limit_mw"])
    assert nvml.nvmlDeviceGetTemperature(busy, 0) == int(gpu["temperature_busy_c"])
    assert nvml.nvmlDeviceGetClockInfo(busy, 0) == int(gpu["clock_khz"]) // 1000
    assert nvml.nvmlDeviceGetPerformanceState(busy) == nvml.NVML_PSTATE_0
    assert nvml.nvmlDeviceGetEncoderUtilization(busy)[0] == 0
    spent = [nvml.nvmlDeviceGetTotalEnergyConsumption(handle) for handle in (busy, idle)]
    assert spent[0] > spent[1] > 0
    samples = nvml.nvmlDeviceGetProcessUtilization(busy, 0)
    assert [sample.pid for sample in samples] == [process.pid]


def test_utilisation_comes_late(on_node: Any, make_node: MakeNode, guest: Guest) -> None:
    node = make_node("1xt4", speed=0.1)
    nvml = on_node(node)
    guest(node, busy_ns=SECOND)
    # A tenth of an emulated second is a whole one here: the newest sample is still from before.
    assert nvml.nvmlDeviceGetUtilizationRates(nvml.nvmlDeviceGetHandleByIndex(0)).gpu == 0


def test_shares_of_two_processes(
    on_node: Any, make_node: MakeNode, guest: Guest, eventually: Eventually
) -> None:
    node = make_node("1xt4", speed=10)
    nvml = on_node(node)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetProcessUtilization(handle, 0)
    pids = {guest(node, busy_ns=1000 * SECOND).pid for _ in range(2)}

    def shares() -> list[int]:
        try:
            samples = nvml.nvmlDeviceGetProcessUtilization(handle, 0)
        except nvml.NVMLError_NotFound:
            return []
        assert {sample.pid for sample in samples} <= pids
        return [sample.smUtil for sample in samples]

    eventually(lambda: len(shares()) == 2 and all(40 <= share <= 50 for share in shares()))
    newest = nvml.nvmlDeviceGetProcessUtilization(handle, 0)[0].timeStamp
    assert abs(newest / 1e6 - time.time()) < 1
    later = nvml.nvmlDeviceGetProcessUtilization(handle, 0)[0].timeStamp
    assert later >= newest


def test_samples_are_not_given_twice(
    on_node: Any, make_node: MakeNode, guest: Guest, eventually: Eventually
) -> None:
    node = make_node("1xt4", speed=1)
    nvml = on_node(node)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    guest(node, busy_ns=1000 * SECOND)
    eventually(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu == 100)
    kind = nvml.NVML_GPU_UTILIZATION_SAMPLES
    value_type, samples = nvml.nvmlDeviceGetSamples(handle, kind, 0)
    assert value_type == nvml.NVML_VALUE_TYPE_UNSIGNED_INT
    times = [sample.timeStamp for sample in samples]
    assert times == sorted(set(times))
    assert samples[-1].sampleValue.uiVal == 100
    _, newer = nvml.nvmlDeviceGetSamples(handle, kind, times[-2])
    assert newer[0].timeStamp == times[-1]


def test_fields(nvml: Any) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    energy, link, memory_temperature = nvml.nvmlDeviceGetFieldValues(
        handle,
        [
            nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION,
            nvml.NVML_FI_DEV_NVLINK_LINK_COUNT,
            nvml.NVML_FI_DEV_MEMORY_TEMP,
        ],
    )
    assert (energy.nvmlReturn, link.nvmlReturn, link.value.uiVal) == (0, 0, 0)
    assert memory_temperature.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
