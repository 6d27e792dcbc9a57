"""Programs of the CUDA runtime, bare and under nvshare: their output is always the same."""

import os
import subprocess
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder

from .conftest import HERE, Compile


def run(command: list[str], node: Node) -> tuple[int, str, str]:
    environment = {**os.environ, **node.environment(library_folder(), os.environ)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    # `nvshare run` says that it has started a daemon.
    told = ("started a daemon", "NVSHARE_OVERSUBSCRIBE=1")
    complaints = [
        line for line in done.stderr.splitlines() if not any(text in line for text in told)
    ]
    return done.returncode, done.stdout, "\n".join(complaints)


def expected(name: str) -> tuple[int, str, str]:
    return 0, (HERE / "expected" / f"{name}.txt").read_text(encoding="utf-8"), ""


@pytest.fixture(scope="module", params=[12, 13])
def plain(compile_c: Compile, request: pytest.FixtureRequest) -> Path:
    return compile_c("plain", request.param)


@pytest.fixture(scope="module")
def kernels(compile_cuda: Compile) -> Path:
    return compile_cuda("kernels")


@pytest.fixture(scope="module")
def kernels_per_thread(compile_cuda: Compile) -> Path:
    return compile_cuda("kernels", "--default-stream=per-thread")


def test_every_part_of_the_runtime_that_needs_no_kernel(
    plain: Path, node: Node, launcher: list[str]
) -> None:
    assert run([*launcher, str(plain)], node) == expected("plain")


def test_code_that_nvcc_has_compiled(kernels: Path, node: Node, launcher: list[str]) -> None:
    assert run([*launcher, str(kernels)], node) == expected("kernels")


def test_code_whose_default_streams_are_per_thread(
    kernels_per_thread: Path, node: Node, launcher: list[str]
) -> None:
    code, output, complaints = expected("kernels")
    output = output.replace("is legacy 1, of all threads 1", "is legacy 0, of all threads 0")
    assert run([*launcher, str(kernels_per_thread)], node) == (code, output, complaints)


def test_without_a_driver_there_is_an_error_and_no_crash(
    compile_c: Compile, tmp_path: Path
) -> None:
    program = compile_c("plain", 13)
    (tmp_path / "libcudart.so.13").symlink_to(library_folder() / "libcudart.so.13")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode == 0:
        pytest.skip("there is a driver on this machine")
    assert "cudaGetDeviceCount(&count): cudaErrorInsufficientDriver" in done.stdout
