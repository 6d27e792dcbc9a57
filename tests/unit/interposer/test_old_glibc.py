"""libnvshare.so loads in images as old as glibc 2.17, whatever it was built on."""

import re
import subprocess

from nvshare.launch.preload import library

OLDEST = (2, 17)


def read(option: str) -> str:
    command = ["objdump", option, str(library())]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def is_old(version: str) -> bool:
    numbers = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version)
    # Names without a number (GLIBC_ABI_DT_RELR) came after 2.17, all of them.
    return numbers is not None and tuple(map(int, numbers[1].split("."))) <= OLDEST


def test_every_function_it_needs_is_there() -> None:
    needed = re.findall(r"\*UND\*.*?\(?(GLIBC_[\w.]+)\)?\s+(\w+)$", read("-T"), re.MULTILINE)
    assert "dlopen" in {name for _, name in needed}
    too_new = [f"{name}@{version}" for version, name in needed if not is_old(version)]
    assert too_new == [], "give an older version in native/common/old_glibc.h, or do without"


def test_the_file_itself_needs_nothing_newer() -> None:
    references = read("-p").partition("Version References:")[2]
    versions = re.findall(r"\b(GLIBC_[\w.]+)$", references, re.MULTILINE)
    assert "GLIBC_2.17" in versions
    assert [version for version in versions if not is_old(version)] == []


def test_the_libraries_in_which_old_images_have_these_functions_are_loaded() -> None:
    assert {"libpthread.so.0", "libdl.so.2"} <= set(re.findall(r"NEEDED\s+(\S+)", read("-p")))
