"""Tests of a program that uses GPUs, on emulated GPUs: python -m pytest examples/test_gpu.py."""

import subprocess
import sys

import pytest

COUNT = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"
WORK = [sys.executable, "-m", "nvshare", "workload", "pytorch-add-small", "--iterations", "100"]


@pytest.mark.emulated_gpu(gpus="2xt4,a100-40g", speed=100)
def test_a_program_sees_the_gpus_of_the_marker():
    """Every program that the test starts sees these GPUs."""
    assert subprocess.check_output([sys.executable, "-c", COUNT], text=True) == "3\n"


@pytest.mark.emulated_gpu(gpus="t4", speed=100, data="off")
def test_what_the_gpu_did(emulated_gpu):
    """The fixture reads the counters of the GPU, and runs programs with a timeout."""
    emulated_gpu.run(WORK)
    assert emulated_gpu.gpu().busy_ns > 0
    assert [program.injected for program in emulated_gpu.ended()] == [0]


@pytest.mark.emulated_gpu(gpus="t4", speed=100, data="off")
def test_a_gpu_whose_memory_another_process_holds(emulated_gpu):
    """The fixture can inject faults, too: another process holds memory."""
    emulated_gpu.steal("14Gi")
    done = emulated_gpu.run(WORK, check=False)
    assert done.returncode != 0
    assert "OUT_OF_MEMORY" in done.stderr
