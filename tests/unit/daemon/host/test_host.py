from pathlib import Path

import pytest

from nvshare.daemon.host.cgroup import MemoryGroup
from nvshare.daemon.host.host import memory_limits, spare_memory
from nvshare.lab.emulator.conf import Settings, write_conf
from nvshare.lab.emulator.profile import load_known

GIB = 1 << 30


def test_four_fifths_of_what_the_kernel_says_is_available(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:    5000 kB\nCached:  1000 kB\n")
    assert spare_memory({}, meminfo) == 4000 * 1024
    meminfo.write_text("MemTotal:  9000 kB\n")
    with pytest.raises(ValueError, match="MemAvailable"):
        spare_memory({}, meminfo)


def test_this_machine_has_some() -> None:
    assert spare_memory({}) > 0


def test_the_host_of_emulated_gpus_is_emulated(tmp_path: Path) -> None:
    conf = write_conf("lab", Settings(host_bytes=10 * GIB), [load_known("t4")])
    (tmp_path / "node.conf").write_text(conf)
    assert spare_memory({"NVSHARE_EMULATOR_NODE": str(tmp_path)}) == 8 * GIB


def test_emulated_pages_are_charged_to_the_innermost_cgroup_only(tmp_path: Path) -> None:
    proc, top = tmp_path / "proc", tmp_path / "cgroup"
    for folder in (proc / "self", proc / "7", top / "kubepods" / "pod"):
        folder.mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text(f"41 31 0:38 / {top} rw - cgroup2 cgroup2 rw\n")
    (proc / "7" / "cgroup").write_text("0::/kubepods/pod\n")
    for folder, limit in ((top / "kubepods", 900), (top / "kubepods" / "pod", 500)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text("100\n")
        (folder / "memory.stat").write_text("")
    pod = MemoryGroup(str(top / "kubepods" / "pod"), 500, 100)
    emulated = {"NVSHARE_EMULATOR_NODE": str(tmp_path)}
    assert memory_limits(emulated, str(top), proc)([7])[7] == [pod]
    assert memory_limits({}, str(top), proc)([7])[7] == [
        pod,
        MemoryGroup(str(top / "kubepods"), 900, 100),
    ]
    # A limit that the program was given goes before that.
    (proc / "7" / "environ").write_text("A=1\0NVSHARE_EMULATOR_HOST_LIMIT=1Ki\0")
    assert [one.limit for one in memory_limits(emulated, str(top), proc)([7])[7]] == [1024]
