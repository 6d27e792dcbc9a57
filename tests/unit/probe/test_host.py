from pathlib import Path

import pytest

from nvshare.probe import host


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_version_2(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "proc/self/cgroup": "0::/kubepods/pod1/c1\n",
            "proc/meminfo": "MemTotal: 64 kB\nMemAvailable:  32 kB\n",
            "proc/self/status": "Name:\tpython\nVmRSS:\t 16 kB\n",
            "sys/fs/cgroup/kubepods/pod1/c1/memory.current": "4096\n",
            "sys/fs/cgroup/kubepods/pod1/c1/memory.max": "max\n",
            "sys/fs/cgroup/kubepods/pod1/memory.max": "8192\n",
            "sys/fs/cgroup/kubepods/memory.max": "16384\n",
        },
    )
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    assert host.read_memory(proc, sys) == host.HostMemory(32 * 1024, 16 * 1024, 4096)
    assert host.total_memory(proc) == 64 * 1024
    group = host.memory_cgroup(proc, sys)
    assert group is not None
    # The limit of a parent holds, too.
    assert (group.version, group.limit()) == (2, 8192)


def test_version_1_beside_an_empty_version_2(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu,memory:/jobs\n0::/\n",
            "sys/fs/cgroup/memory/jobs/memory.usage_in_bytes": "4096\n",
            "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    group = host.memory_cgroup(tmp_path / "proc", tmp_path / "sys")
    assert group is not None
    assert (group.version, group.usage(), group.limit()) == (1, 4096, None)


def test_a_container_that_sees_its_own_cgroup_as_the_top(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"proc/self/cgroup": "0::/of/the/host\n", "sys/fs/cgroup/memory.max": "8192\n"},
    )
    group = host.memory_cgroup(tmp_path / "proc", tmp_path / "sys")
    assert group is not None
    assert (group.usage(), group.limit()) == (None, 8192)


def test_no_cgroup_at_all(tmp_path: Path) -> None:
    assert host.memory_cgroup(tmp_path, tmp_path) is None
    assert host.read_memory(tmp_path, tmp_path) == host.HostMemory(None, None, None)


@pytest.mark.parametrize(
    ("text", "flavour"),
    [
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04\n", "open"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14\n", "proprietary"),
    ],
)
def test_the_flavour_of_the_module(tmp_path: Path, text: str, flavour: str) -> None:
    assert host.module_flavour(tmp_path) is None
    put(tmp_path, {"driver/nvidia/version": text})
    assert host.module_flavour(tmp_path) == flavour


def test_the_numa_node_of_a_gpu(tmp_path: Path) -> None:
    put(tmp_path, {"bus/pci/devices/0000:3b:00.0/numa_node": "1\n"})
    assert host.numa_node("0000:3B:00.0", tmp_path) == 1
    assert host.numa_node("00000000:3B:00.0", tmp_path) == 1
    assert host.numa_node("0000:01:00.0", tmp_path) is None


@pytest.mark.parametrize(
    ("release", "version"),
    [("6.8.0-45-generic", (6, 8)), ("5.14.0-rc1", (5, 14)), ("4.18.0-553.el8", (4, 18))],
)
def test_versions_of_kernels(release: str, version: tuple[int, int]) -> None:
    assert host.kernel_version(release) == version


def test_which_libraries_are_loaded(tmp_path: Path) -> None:
    put(tmp_path, {"self/maps": "7f00-7f01 r-xp 0 08:01 1 /opt/x/libnvshare.so\n"})
    assert host.loaded("libnvshare.so", tmp_path)
    assert not host.loaded("nvshare.so", tmp_path)
