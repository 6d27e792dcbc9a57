"""Every symbol of the vendor's headers exists in the emulated libraries, and can be looked up."""

import ctypes
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.libraries import DRIVER, NVML, library_folder

ROOT = Path(__file__).parents[4]
OWN_NVML = [f"nvshareEmulator{name}" for name in ("Fault", "Refuse", "Report", "Steal")]

SUCCESS, INVALID_VALUE, NOT_FOUND = 0, 1, 500
FOUND, UNKNOWN, TOO_OLD = 0, 1, 2
DEFAULT, LEGACY, PER_THREAD = 0, 1, 2


@pytest.fixture(scope="module")
def include() -> list[Path]:
    command = [sys.executable, str(ROOT / "cmake" / "find_headers.py")]
    command += ["cuda.h", "cudaTypedefs.h", "nvml.h"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Path(folder) for folder in output.strip().split(";")]


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch, include: list[Path]) -> list[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "native" / "headers"))
    declarations = importlib.import_module("declarations")
    pairing = importlib.import_module("pairing")
    text = declarations.preprocess("cc", include, declarations.CUDA_HEADERS)
    pairs = pairing.pair(declarations.functions(text), declarations.pointer_types(text))
    return list(pairs)


@pytest.fixture(scope="module")
def cuda() -> ctypes.CDLL:
    return ctypes.CDLL(str(library_folder() / DRIVER))


def raw(include: list[Path], header: str) -> str:
    path = next(folder / header for folder in include if (folder / header).is_file())
    return path.read_text(encoding="utf-8")


def tool(library: str, *command: str) -> str:
    """Run a program of binutils on one of the two libraries."""
    arguments = [*command, str(library_folder() / library)]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def exported(library: str) -> set[str]:
    lines = tool(library, "nm", "--dynamic", "--defined-only", "--format=posix").splitlines()
    return {line.split()[0] for line in lines}


def lookup(
    cuda: ctypes.CDLL, name: str, version: int, flags: int = DEFAULT
) -> tuple[int, int | None, int]:
    """Result, pointer and status of one call of cuGetProcAddress_v2."""
    pointer, status = ctypes.c_void_p(1), ctypes.c_int(-1)
    result = cuda.cuGetProcAddress_v2(
        name.encode(),
        ctypes.byref(pointer),
        version,
        ctypes.c_uint64(flags),
        ctypes.byref(status),
    )
    return result, pointer.value, status.value


def address(cuda: ctypes.CDLL, symbol: str) -> int | None:
    return ctypes.cast(getattr(cuda, symbol), ctypes.c_void_p).value


def driver_version(cuda: ctypes.CDLL) -> int:
    version = ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    return version.value or 13040


# A pattern of its own, cruder than the generator's, on text that no preprocessor has touched:
# declarations that the generator overlooks must not be overlooked here too.
def test_every_declaration_of_cuda_h_is_exported(include: list[Path]) -> None:
    text = raw(include, "cuda.h")
    declared = set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w*)\s*\(", text))
    renamed = set(re.findall(r"#define\s+cu[A-Z]\w*\s+(cu[A-Z]\w*)", text)) - {
        "cuGetProcAddress_v2_ptsz"  # an inline function of the header
    }
    flavours = {
        name + ("_ptds" if kind == "PTDS" else "_ptsz")
        for kind, name in re.findall(r"__CUDA_API_(PTDS|PTSZ)\((cu[A-Z]\w*)\)", text)
    }
    assert len(declared) > 500
    assert len(flavours) > 90
    assert declared | renamed | flavours <= exported(DRIVER)


def test_every_declaration_of_nvml_h_is_exported(include: list[Path]) -> None:
    text = raw(include, "nvml.h")
    declared = set(re.findall(r"DECLDIR\s+(nvml[A-Z]\w*)\s*\(", text))
    renamed = set(re.findall(r"#define\s+(nvml[A-Z]\w*)\s+nvml[A-Z]\w*\s*$", text, re.M))
    assert len(declared) > 400
    assert declared | {name for name in renamed if not name.endswith("_t")} <= exported(NVML)


@pytest.mark.parametrize(
    ("library", "prefix", "own"),
    [
        (DRIVER, "cu", []),
        (NVML, "nvml", OWN_NVML),
    ],
)
def test_nothing_else_is_exported(library: str, prefix: str, own: list[str]) -> None:
    others = [name for name in exported(library) if not re.match(rf"{prefix}[A-Z]", name)]
    assert sorted(others) == own


@pytest.mark.parametrize("library", [DRIVER, NVML])
def test_the_soname_is_the_file_name(library: str) -> None:
    assert f"soname: [{library}]" in tool(library, "readelf", "--dynamic", "--wide")


# A preloaded interposer defines the same names. If a call or a table inside the library could be
# bound to those, the interposer would be handed its own functions as the driver's.
@pytest.mark.parametrize("library", [DRIVER, NVML])
def test_no_call_inside_the_library_can_be_interposed(library: str) -> None:
    output = tool(library, "readelf", "--relocs", "--wide")
    assert re.findall(r"\s(?:cu|nvml)[A-Z]\w*(?:@\S+)? \+ \w+$", output, re.M) == []


def test_every_version_is_found_with_its_own_symbol(
    cuda: ctypes.CDLL, entry_points: list[Any]
) -> None:
    newest = driver_version(cuda)
    assert len(entry_points) > 500
    for entry in entry_points:
        if entry.version > newest:
            continue
        expected = (SUCCESS, address(cuda, entry.symbol), FOUND)
        assert lookup(cuda, entry.name, entry.version) == expected, entry
        assert lookup(cuda, entry.name, entry.version, LEGACY) == expected, entry
        if entry.per_thread is None:
            assert lookup(cuda, entry.name, entry.version, PER_THREAD) == expected, entry
        elif entry.per_thread_version <= newest:
            flavour = (SUCCESS, address(cuda, entry.per_thread), FOUND)
            found = lookup(cuda, entry.name, entry.per_thread_version, PER_THREAD)
            assert found == flavour, entry


@pytest.mark.parametrize(
    ("name", "version", "flags", "symbol"),
    [
        ("cuMemAlloc", 2000, DEFAULT, "cuMemAlloc"),
        ("cuMemAlloc", 3010, DEFAULT, "cuMemAlloc"),
        ("cuMemAlloc", 3020, DEFAULT, "cuMemAlloc_v2"),
        ("cuMemAlloc", 12000, DEFAULT, "cuMemAlloc_v2"),
        ("cuCtxCreate", 12000, DEFAULT, "cuCtxCreate_v3"),
        ("cuGetProcAddress", 11030, DEFAULT, "cuGetProcAddress"),
        ("cuGetProcAddress", 12000, DEFAULT, "cuGetProcAddress_v2"),
        ("cuMemcpyHtoD", 7000, LEGACY, "cuMemcpyHtoD_v2"),
        ("cuMemcpyHtoD", 7000, PER_THREAD, "cuMemcpyHtoD_v2_ptds"),
        ("cuMemcpyHtoD", 6050, PER_THREAD, "cuMemcpyHtoD_v2"),
        ("cuLaunchKernel", 12000, PER_THREAD, "cuLaunchKernel_ptsz"),
        ("cuInit", 12000, PER_THREAD, "cuInit"),
        ("cuProfilerStart", 12000, DEFAULT, "cuProfilerStart"),
    ],
)
def test_the_newest_revision_that_is_not_too_new(
    cuda: ctypes.CDLL, name: str, version: int, flags: int, symbol: str
) -> None:
    assert lookup(cuda, name, version, flags) == (SUCCESS, address(cuda, symbol), FOUND)


@pytest.mark.parametrize("name", ["", "cuNoSuchThing", "cuMemAlloc_v2", "cu", "zz"])
def test_an_unknown_name_has_no_function(cuda: ctypes.CDLL, name: str) -> None:
    assert lookup(cuda, name, 12000) == (SUCCESS, None, UNKNOWN)


def test_a_function_newer_than_the_version_asked_for(cuda: ctypes.CDLL) -> None:
    assert lookup(cuda, "cuLaunchKernelEx", 11000) == (SUCCESS, None, TOO_OLD)


def test_a_version_newer_than_the_driver_is_refused(cuda: ctypes.CDLL) -> None:
    result, pointer, _ = lookup(cuda, "cuInit", driver_version(cuda) + 10)
    assert (result, pointer) == (INVALID_VALUE, None)


@pytest.mark.parametrize("flags", [LEGACY | PER_THREAD, 4, 1 << 40])
def test_flags_that_mean_nothing_are_refused(cuda: ctypes.CDLL, flags: int) -> None:
    assert lookup(cuda, "cuInit", 12000, flags)[0] == INVALID_VALUE


@pytest.mark.parametrize(
    ("function", "no_status"), [("cuGetProcAddress", ()), ("cuGetProcAddress_v2", (None,))]
)
def test_without_a_status_an_unknown_name_is_an_error(
    cuda: ctypes.CDLL, function: str, no_status: tuple[None, ...]
) -> None:
    pointer = ctypes.c_void_p(1)

    def get(name: bytes | None, into: object) -> int:
        result = getattr(cuda, function)(name, into, 12000, ctypes.c_uint64(DEFAULT), *no_status)
        return int(result)

    assert get(b"cuNoSuchThing", ctypes.byref(pointer)) == NOT_FOUND
    assert pointer.value is None
    assert get(b"cuInit", ctypes.byref(pointer)) == SUCCESS
    assert pointer.value == address(cuda, "cuInit")
    assert get(b"cuInit", None) == INVALID_VALUE
    assert get(None, ctypes.byref(pointer)) == INVALID_VALUE


def test_there_are_no_undocumented_tables(
    cuda: ctypes.CDLL, capfd: pytest.CaptureFixture[str]
) -> None:
    table = ctypes.c_void_p(1)
    assert cuda.cuGetExportTable(ctypes.byref(table), bytes(16)) == NOT_FOUND
    assert table.value is None
    assert capfd.readouterr().err == ""


def error_text(function: object, value: int) -> tuple[int, bytes | None]:
    text = ctypes.c_char_p(b"untouched")
    assert callable(function)
    return function(value, ctypes.byref(text)), text.value


def test_errors_have_names_and_words(cuda: ctypes.CDLL) -> None:
    assert error_text(cuda.cuGetErrorName, 2) == (SUCCESS, b"CUDA_ERROR_OUT_OF_MEMORY")
    assert error_text(cuda.cuGetErrorString, 2) == (SUCCESS, b"out of memory")
    assert error_text(cuda.cuGetErrorName, 0) == (SUCCESS, b"CUDA_SUCCESS")
    assert error_text(cuda.cuGetErrorName, 12345) == (INVALID_VALUE, None)
    assert error_text(cuda.cuGetErrorString, 12345) == (INVALID_VALUE, None)


def test_nvml_errors_have_words() -> None:
    error_string = ctypes.CDLL(str(library_folder() / NVML)).nvmlErrorString
    error_string.restype = ctypes.c_char_p
    assert error_string(2) == b"invalid argument"
    assert error_string(998) == error_string(999) == b"unknown error"


CALL_FROM_THREADS = """
import ctypes, sys, threading
function = getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])
answers = []
threads = [threading.Thread(target=lambda: answers.append(function(*[None] * 3))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*set(answers))
"""


@pytest.mark.parametrize(
    ("library", "symbol", "answer", "value"),
    [
        (DRIVER, "cuTexRefSetAddress2D_v3", "CUDA_ERROR_NOT_SUPPORTED", 801),
        (DRIVER, "cuMemAlloc", "CUDA_ERROR_NOT_SUPPORTED", 801),
        (NVML, "nvmlVgpuTypeGetClass", "NVML_ERROR_NOT_SUPPORTED", 3),
    ],
)
def test_what_is_not_implemented_says_so_once(
    library: str, symbol: str, answer: str, value: int
) -> None:
    path = library_folder() / library
    command = [sys.executable, "-c", CALL_FROM_THREADS, str(path), symbol]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"{value}\n"
    assert result.stderr == f"nvshare emulator: {symbol} is not implemented, answering {answer}\n"
