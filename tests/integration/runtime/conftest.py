"""Programs that use the CUDA runtime, compiled against the vendor's headers and our libraries."""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

HERE = Path(__file__).parent
NVIDIA = Path(sysconfig.get_path("purelib")) / "nvidia"
HEADERS = {
    # The package of CUDA 12 lacks crt/, which is the same in 13.
    12: [NVIDIA / "cuda_runtime" / "include", NVIDIA / "cu13" / "include"],
    13: [NVIDIA / "cu13" / "include"],
}

Compile: TypeAlias = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile a C program with the headers of a major version, and link it to that runtime."""

    def build(program: str, major: int) -> Path:
        made = tmp_path_factory.mktemp("c") / program
        command = ["cc", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", str(made)]
        command += [f"-isystem{folder}" for folder in HEADERS[major]]
        command += [str(HERE / "programs" / f"{program}.c")]
        command += [str(library_folder() / f"libcudart.so.{major}")]
        subprocess.run(command, check=True, timeout=60)
        return made

    return build


@pytest.fixture(scope="session")
def compile_cuda(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile a CUDA program with nvcc, for a T4, with the runtime as a shared library."""

    def build(program: str, *options: str) -> Path:
        folder = tmp_path_factory.mktemp("cuda")
        # nvcc comes with the file to link to under its long name only.
        (folder / "libcudart.so").symlink_to(library_folder() / "libcudart.so.13")
        made = folder / program
        command = [str(NVIDIA / "cu13" / "bin" / "nvcc"), "-arch=sm_75", "-cudart=shared"]
        command += [f"-L{folder}", *options, "-o", str(made)]
        subprocess.run(
            [*command, str(HERE / "programs" / f"{program}.cu")], check=True, timeout=100
        )
        return made

    if not shutil.which("g++"):
        pytest.skip("nvcc needs g++")
    return build


@pytest.fixture
def node() -> Iterator[Node]:
    """Two T4s."""
    with transient_node(node_root(), Settings(speed=20), parse_gpus("2xt4")) as made:
        yield made


@pytest.fixture(params=["bare", "shared"])
def launcher(request: pytest.FixtureRequest) -> list[str]:
    """The words before a command: none, or nvshare run."""
    return [] if request.param == "bare" else [sys.executable, "-m", "nvshare", "run", "--"]
