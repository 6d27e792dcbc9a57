"""The emulated CUDA runtimes have the symbols of the vendor's, and every one of the headers."""

import importlib
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from nvshare.lab.emulator.libraries import library_folder

ROOT = Path(__file__).parents[4]
NVIDIA = Path(sysconfig.get_path("purelib")) / "nvidia"
VENDOR = {
    12: NVIDIA / "cuda_runtime" / "lib" / "libcudart.so.12",
    13: NVIDIA / "cu13" / "lib" / "libcudart.so.13",
}
INCLUDE = {
    12: [NVIDIA / "cuda_runtime" / "include", NVIDIA / "cu13" / "include"],
    13: [NVIDIA / "cu13" / "include"],
}
# No header declares these, and no program from nvcc needs them for anything possible here.
UNDOCUMENTED = re.compile(
    r"__cuda(GetProcAddress|RegisterHostVar|RegisterUnifiedTable)|cudaSubgrid\w+"
)

major = pytest.mark.parametrize("major", [12, 13])


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "lab" / "emulator" / "exports"))
    return importlib.import_module("generate_runtime")


def ours(version: int) -> Path:
    return library_folder() / f"libcudart.so.{version}"


def tool(path: Path, *command: str) -> str:
    result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True)
    return result.stdout


def exported(path: Path) -> set[str]:
    """Every function that a library offers, with its version: cudaMalloc@@libcudart.so.13."""
    lines = tool(path, "nm", "--dynamic", "--defined-only", "--format=posix").splitlines()
    return {line.split()[0] for line in lines if line.split()[1] in "TW"}


@major
def test_names_and_versions_are_those_of_the_vendor(major: int) -> None:
    vendors = {name for name in exported(VENDOR[major]) if not UNDOCUMENTED.match(name)}
    assert len(vendors) > 400
    assert exported(ours(major)) == vendors


@major
def test_every_declaration_is_exported(major: int, generator: ModuleType) -> None:
    declarations = generator.declarations
    text = declarations.preprocess("cc", INCLUDE[major], generator.RUNTIME_HEADERS)
    declared = {f"{name}@@libcudart.so.{major}" for name in declarations.functions(text)}
    assert declared == exported(ours(major))


@major
def test_the_soname_is_the_file_name(major: int) -> None:
    output = tool(ours(major), "readelf", "--dynamic", "--wide")
    assert f"soname: [libcudart.so.{major}]" in output


# They are in every program on an emulated node, and most programs have no use for them.
@major
def test_loading_one_loads_and_runs_nothing_else(major: int) -> None:
    output = tool(ours(major), "readelf", "--dynamic", "--wide")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output)
    others = [name for name in needed if not re.match(r"(libc|libdl|libpthread|ld-linux)\b", name)]
    assert others == []
    sections = tool(ours(major), "readelf", "--sections", "--wide")
    # Eight bytes: what every library has.
    assert re.findall(r"\.init_array\s+INIT_ARRAY\s+\w+ \w+ (\w+)", sections) == ["000008"]


# A result of the driver is passed on as it is, so the numbers have to mean the same.
@major
def test_an_error_has_the_number_that_it_has_in_the_driver(
    major: int, generator: ModuleType
) -> None:
    def numbers(header: str, typedef: str) -> dict[str, int]:
        text = generator.declarations.preprocess("cc", INCLUDE[major], (header,))
        pattern = rf"enum\s+\w*\s*{{([^}}]*)}}\s*{typedef};|enum\s+{typedef}\s*{{([^}}]*)}}\s*;"
        found = re.search(pattern, text)
        assert found is not None
        items = re.findall(r"(\w+)\s*=\s*(\d+)", found[1] or found[2])
        return {name: int(number) for name, number in items}

    driver, runtime = numbers("cuda.h", "CUresult"), numbers("cuda_runtime_api.h", "cudaError")
    for one, other in [
        ("CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue"),
        ("CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation"),
        ("CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError"),
        ("CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice"),
        ("CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice"),
        ("CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized"),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice"),
        ("CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle"),
        ("CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound"),
        ("CUDA_ERROR_NOT_READY", "cudaErrorNotReady"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress"),
        ("CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure"),
        ("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled"),
        ("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported"),
        ("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated"),
        ("CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported"),
    ]:
        assert driver[one] == runtime[other], one


CALL = """
import ctypes, sys
function = getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])
print(*{function(*[None] * 4) for _ in range(3)})
"""


@major
@pytest.mark.parametrize("symbol", ["cudaCreateTextureObject", "cudaGLGetDevices"])
def test_what_is_not_implemented_says_so_once(major: int, symbol: str) -> None:
    command = [sys.executable, "-c", CALL, str(ours(major)), symbol]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "801\n"
    answer = "cudaErrorNotSupported"
    assert result.stderr == f"nvshare emulator: {symbol} is not implemented, answering {answer}\n"
