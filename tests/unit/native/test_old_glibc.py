"""The native files load with glibc 2.17 and later, whatever they were built on."""

import re
import subprocess
from pathlib import Path

import pytest

from nvshare.lab.emulator.libraries import library_folder
from nvshare.launch.preload import library

OLDEST = (2, 17)
ELF = b"\x7fELF"


def is_native(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF


ROOT = library().parent
NATIVE = sorted(path for path in ROOT.rglob("*") if path.is_file() and is_native(path))
EMULATED = sorted(path for path in NATIVE if path.parent == library_folder())


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: Path, option: str) -> str:
    command = ["objdump", option, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def is_old(version: str) -> bool:
    numbers = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version)
    # Names without a number (GLIBC_ABI_DT_RELR) came after 2.17, all of them.
    return numbers is not None and tuple(map(int, numbers[1].split("."))) <= OLDEST


def needed_functions(path: Path) -> dict[str, str]:
    found = re.findall(r"\*UND\*.*?\(?(GLIBC_[\w.]+)\)?\s+(\w+)$", read(path, "-T"), re.MULTILINE)
    return {function: version for version, function in found}


def test_there_is_something_to_look_at() -> None:
    # The driver, NVML and two runtimes; two programs of bench, at least one workload; the others.
    assert len(EMULATED) == 4
    assert len(NATIVE) > 10
    for path in (library(), *EMULATED):
        assert "dlopen" in needed_functions(path) or path.name.startswith("libnvidia-ml")


@pytest.mark.parametrize("path", NATIVE, ids=name)
def test_every_function_it_needs_is_there(path: Path) -> None:
    too_new = [
        f"{f}@{version}" for f, version in needed_functions(path).items() if not is_old(version)
    ]
    assert too_new == [], "give an older version in native/common/old_glibc.h, or do without"


@pytest.mark.parametrize("path", NATIVE, ids=name)
def test_the_file_itself_needs_nothing_newer(path: Path) -> None:
    references = read(path, "-p").partition("Version References:")[2]
    versions = re.findall(r"\b(GLIBC_[\w.]+)$", references, re.MULTILINE)
    assert [version for version in versions if not is_old(version)] == []


@pytest.mark.parametrize("path", [library(), *EMULATED], ids=name)
def test_the_libraries_in_which_old_images_have_these_functions_are_loaded(path: Path) -> None:
    assert {"libpthread.so.0", "libdl.so.2"} <= set(re.findall(r"NEEDED\s+(\S+)", read(path, "-p")))
