"""The pytest plugin, in pytest runs of its own: as another project's tests see it."""

import subprocess
import sys

import pytest

from nvshare.lab.emulator.pytest_plugin import MARKER

pytest_plugins = "pytester"

TESTS = """
import os, subprocess, sys
import pytest
from nvshare.lab.emulator.workload import workload_command

WORK = workload_command("pytorch-add-small", "--iterations", "20", "--startup", "0")
PROGRAM = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"
COUNT = [sys.executable, "-c", PROGRAM]
MEMORY = [sys.executable, "-c", '''
import pynvml
pynvml.nvmlInit()
first = pynvml.nvmlDeviceGetHandleByIndex(0)
try:
    print(pynvml.nvmlDeviceGetMemoryInfo(first).used >> 30)
except pynvml.NVMLError as error:
    print(type(error).__name__)
''']

@pytest.mark.emulated_gpu(gpus="2xt4,h100-80g", speed=100)
def test_programs_see_the_gpus_of_the_marker():
    assert subprocess.check_output(COUNT, text=True) == "3\\n"

def test_the_fixture_alone_is_one_t4(emulated_gpu):
    assert emulated_gpu.node.gpu_names == ("Tesla T4",)
    assert emulated_gpu.run(COUNT).stdout == "1\\n"

def test_others_have_none():
    assert "NVSHARE_EMULATOR_NODE" not in os.environ

@pytest.mark.emulated_gpu("t4", speed=100, data="off")
def test_what_the_gpu_did_can_be_read(emulated_gpu):
    assert emulated_gpu.gpu().busy_ns == 0
    emulated_gpu.run(WORK)
    done = emulated_gpu.gpu()
    assert done.busy_ns > 20 * 9_000_000
    (ended,) = emulated_gpu.ended()
    assert ended.handles == ended.injected == 0

@pytest.mark.emulated_gpu(gpus="t4", speed=100)
def test_faults(emulated_gpu):
    emulated_gpu.steal("10Gi")
    assert emulated_gpu.run(MEMORY).stdout == "10\\n"
    emulated_gpu.fault()
    assert emulated_gpu.run(MEMORY).stdout == "NVMLError_GpuIsLost\\n"
    emulated_gpu.heal()
    emulated_gpu.refuse()
    assert emulated_gpu.run(MEMORY).stdout == "NVMLError_NotSupported\\n"
    emulated_gpu.heal()
    assert emulated_gpu.run(MEMORY).stdout == "0\\n"

@pytest.mark.emulated_gpu(gpus="t4", speed=100, data="off")
def test_calls_that_fail(emulated_gpu):
    emulated_gpu.fail_calls("register@1=2")
    program = "import ctypes; cu = ctypes.CDLL('libcuda.so.1'); cu.cuInit(0); "
    program += "c = ctypes.c_void_p(); cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 0); "
    program += "cu.cuCtxSetCurrent(c); p = ctypes.c_void_p(); "
    program += "print(cu.cuMemHostAlloc(ctypes.byref(p), ctypes.c_size_t(4096), 0))"
    assert emulated_gpu.run([sys.executable, "-c", program]).stdout == "2\\n"
    assert [one.injected for one in emulated_gpu.ended()] == [1]
"""

WRONG = """
import pytest

@pytest.mark.emulated_gpu(gpu="t4")
def test_a_misspelt_argument(): pass

@pytest.mark.emulated_gpu(gpus="t5")
def test_a_gpu_that_there_is_not(): pass

@pytest.mark.emulated_gpu(speed="fast")
def test_a_speed_that_is_none(): pass

@pytest.mark.emulated_gpu(data="maybe")
def test_data_that_is_neither(): pass
"""


@pytest.fixture
def own(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name in ("NVSHARE_EMULATOR_NODE", "NVSHARE_EMULATOR_SPEED"):
        monkeypatch.delenv(name, raising=False)
    return pytester


def test_a_marked_test_has_its_gpus_and_others_have_none(own: pytest.Pytester) -> None:
    own.makepyfile(TESTS)

    result = own.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=6)


def test_a_wrong_marker_says_what_is_wrong_with_it(own: pytest.Pytester) -> None:
    own.makepyfile(WRONG)

    result = own.runpytest_subprocess("-p", "no:cacheprovider")

    result.assert_outcomes(errors=4)
    said = result.stdout.str()
    assert "got an unexpected keyword argument 'gpu'" in said
    assert 'there is no GPU profile called "t5"' in said
    assert "'fast' is not a speed" in said
    assert "'maybe' is not a value of data" in said
    assert "Traceback" not in said
    assert MARKER in said


def test_it_imports_nothing_until_a_test_asks_for_gpus() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import nvshare.lab.emulator.pytest_plugin; "
        "print(*sorted(name for name in set(sys.modules) - before))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
    )

    ours = {"nvshare", "nvshare.lab", "nvshare.lab.emulator"}
    ours.add("nvshare.lab.emulator.pytest_plugin")
    assert set(done.stdout.split()) == ours
