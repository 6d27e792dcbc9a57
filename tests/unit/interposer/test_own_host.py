"""How much a program may take of the host when no daemon is left to make memory for it."""

import subprocess
from pathlib import Path

import pytest

from .conftest import Build

GIB, MIB = 1 << 30, 1 << 20
FREE = 20 * GIB
# A twentieth of the limit, and 64 MiB at least, are left for the program itself.
MACHINE = FREE - 32 * GIB // 20


@pytest.fixture(scope="module")
def check(build: Build) -> Path:
    return build("own_host_check", "explicit/own_host.c", "../common/cgroup.c")


class Files:
    """A machine with 32 GiB of which 20 are free, and cgroups of either version."""

    def __init__(self, root: Path, check: Path) -> None:
        self._root, self._check = root, check
        meminfo = f"MemTotal: {32 << 20} kB\nMemFree: 1 kB\nMemAvailable: {FREE >> 10} kB\n"
        self.write("proc/meminfo", meminfo)

    def write(self, name: str, text: str) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def unified(self, path: str, mounted: str = "/") -> None:
        self.write("proc/self/cgroup", f"0::{path}\n")
        line = f"30 23 0:26 {mounted} /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
        self.write("proc/self/mountinfo", line)

    def limit(self, folder: str, limit: str, used: int, inactive: int = 0) -> None:
        self.write(f"sys/fs/cgroup{folder}/memory.max", limit + "\n")
        self.write(f"sys/fs/cgroup{folder}/memory.current", f"{used}\n")
        stat = f"anon {used}\ninactive_file {inactive}\n"
        self.write(f"sys/fs/cgroup{folder}/memory.stat", stat)

    def room(self) -> int:
        command = [str(self._check), str(self._root)]
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.fixture
def files(tmp_path: Path, check: Path) -> Files:
    return Files(tmp_path, check)


def test_without_cgroups_it_is_what_the_machine_has(files: Files) -> None:
    assert files.room() == MACHINE


def test_a_cgroup_without_a_limit(files: Files) -> None:
    files.unified("/user.slice")
    files.limit("/user.slice", "max", 5 * GIB)
    assert files.room() == MACHINE


def test_the_limit_of_its_own_cgroup_less_a_margin(files: Files) -> None:
    files.unified("/pod/container")
    files.limit("/pod/container", str(4 * GIB), GIB)
    assert files.room() == 3 * GIB - 4 * GIB // 20


def test_the_margin_is_not_less_than_64_mib(files: Files) -> None:
    files.unified("/pod")
    files.limit("/pod", str(GIB), 512 * MIB)
    assert files.room() == (512 - 64) * MIB


def test_files_that_the_kernel_drops_first_are_not_in_use(files: Files) -> None:
    files.unified("/pod")
    files.limit("/pod", str(4 * GIB), 3 * GIB, inactive=2 * GIB)
    assert files.room() == 3 * GIB - 4 * GIB // 20


def test_what_it_lies_in_may_have_less(files: Files) -> None:
    files.unified("/kubepods/pod/container")
    files.limit("/kubepods/pod/container", "max", GIB)
    files.limit("/kubepods", str(2 * GIB), GIB)
    assert files.room() == GIB - 2 * GIB // 20


def test_nothing_is_left(files: Files) -> None:
    files.unified("/pod")
    files.limit("/pod", str(GIB), GIB)
    assert files.room() == 0


def test_in_a_container_the_mount_is_its_own_cgroup(files: Files) -> None:
    files.unified("/kubepods/pod/container", mounted="/kubepods/pod/container")
    files.limit("", str(2 * GIB), GIB)
    assert files.room() == GIB - 2 * GIB // 20


def test_version_1(files: Files) -> None:
    files.write("proc/self/cgroup", "4:cpu,cpuacct:/other\n3:memory:/pod\n0::/\n")
    files.write(
        "proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    )
    folder = "sys/fs/cgroup/memory/pod"
    files.write(f"{folder}/memory.limit_in_bytes", f"{8 * GIB}\n")
    files.write(f"{folder}/memory.usage_in_bytes", f"{3 * GIB}\n")
    files.write(f"{folder}/memory.stat", f"rss 1\ntotal_inactive_file {GIB}\n")
    # The root of the hierarchy shows "no limit" as a very large number.
    files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    files.write("sys/fs/cgroup/memory/memory.usage_in_bytes", f"{3 * GIB}\n")
    assert files.room() == 6 * GIB - 8 * GIB // 20
