"""NVML and the driver agree on a node, asked by one program with a context on it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder

PROGRAM = """
import json, os, sys
import pynvml
from cuda.bindings import driver

def check(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result[0]
    return result[1] if len(result) == 2 else result[1:]

def of_driver(index):
    device = check(driver.cuDeviceGet(index))
    return {
        "name": check(driver.cuDeviceGetName(96, device)).split(b"\\0")[0].decode(),
        "uuid": check(driver.cuDeviceGetUuid(device)).bytes.hex(),
        "pci": check(driver.cuDeviceGetPCIBusId(32, device)).split(b"\\0")[0].decode().upper(),
    }

def of_nvml(index):
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return {
        "name": pynvml.nvmlDeviceGetName(handle),
        "uuid": pynvml.nvmlDeviceGetUUID(handle).removeprefix("GPU-").replace("-", ""),
        "pci": pynvml.nvmlDeviceGetPciInfo(handle).busIdLegacy,
    }

check(driver.cuInit(0))
pynvml.nvmlInit()
count = check(driver.cuDeviceGetCount())
context = check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(1))))
check(driver.cuCtxSetCurrent(context))
check(driver.cuMemAlloc(100 << 20))
handle = pynvml.nvmlDeviceGetHandleByIndex(1)
memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
free, total = check(driver.cuMemGetInfo())
json.dump({
    "count": [count, pynvml.nvmlDeviceGetCount()],
    "gpus": [[of_driver(i), of_nvml(i)] for i in range(count)],
    "version": [check(driver.cuDriverGetVersion()), pynvml.nvmlSystemGetCudaDriverVersion()],
    "free": [free, memory.free],
    "total": [total, memory.total - memory.reserved],
    "processes": [
        [[os.getpid(), total - free]],
        [[p.pid, p.usedGpuMemory] for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)],
    ],
}, sys.stdout)
"""


@pytest.fixture
def answers(make_node: Callable[..., Node]) -> dict[str, Any]:
    node = make_node("2xt4", speed=100)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **node.environment(library_folder(), os.environ)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_driver_and_nvml_agree(answers: dict[str, Any]) -> None:
    for gpu in answers.pop("gpus"):
        assert gpu[0] == gpu[1]
    for key, (driver, nvml) in answers.items():
        assert driver == nvml, key
