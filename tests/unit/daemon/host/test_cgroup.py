"""The memory cgroups of a process, in hierarchies as machines and containers have them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.daemon.host.cgroup import MemoryGroup, MemoryGroups, charges_pages
from nvshare.daemon.host.hierarchy import MemoryHierarchy

MIB = 1 << 20
V1 = "33 31 0:32 {root} {point} rw,relatime - cgroup cgroup rw,memory"
V1_OTHER = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu"
V2 = "41 31 0:38 {root} {point} rw,relatime shared:4 - cgroup2 cgroup2 rw"


class Machine:
    """A /proc and a hierarchy in a folder."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        self.point = folder / "cgroup"
        self.point.mkdir()
        (self.proc / "self").mkdir(parents=True)
        (self.proc / "7").mkdir()
        self.read = MemoryGroups(MemoryHierarchy(self.proc))

    def mount(self, *lines: str) -> None:
        text = "\n".join(line.format(root="/", point=self.point) for line in lines)
        (self.proc / "self" / "mountinfo").write_text(text + "\nnonsense\n")

    def place(self, *lines: str) -> None:
        (self.proc / "7" / "cgroup").write_text("".join(f"{line}\n" for line in lines))

    def group(self, path: str, **files: object) -> str:
        folder = self.point / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_text(f"{content}\n")
        return os.fspath(folder)

    def groups(self) -> list[MemoryGroup]:
        return self.read([7])[7]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def two(limit: object, used: int = 0, stat: str = "") -> dict[str, object]:
    return {"memory__max": limit, "memory__current": used, "memory__stat": stat}


def one(limit: object, used: int = 0, stat: str = "") -> dict[str, object]:
    return {
        "memory__limit_in_bytes": limit,
        "memory__usage_in_bytes": used,
        "memory__stat": stat,
    }


def test_every_limit_on_the_way_up_is_found(machine: Machine) -> None:
    machine.mount(V2)
    machine.place("0::/pod/container/inner")
    machine.group("pod/container/inner", **two("max"))
    inner = machine.group("pod/container", **two(500, 100))
    outer = machine.group("pod", **two(900, 300))
    assert machine.groups() == [MemoryGroup(inner, 500, 100), MemoryGroup(outer, 900, 300)]


def test_version_one_has_other_names_and_a_number_for_no_limit(machine: Machine) -> None:
    machine.mount(V1_OTHER, V1, V2)
    machine.place("5:cpu,cpuacct:/elsewhere", "4:memory:/pod/container", "0::/")
    machine.group("pod", **one(9223372036854771712, 7))
    found = machine.group("pod/container", **one(500, 100))
    assert machine.groups() == [MemoryGroup(found, 500, 100)]


def test_clean_pages_of_files_are_not_used(machine: Machine) -> None:
    machine.mount(V2)
    machine.place("0::/two")
    stat = "anon 9\ninactive_file 40\nactive_file 30\nfile_dirty 5\nfile_writeback 5\nshmem 3"
    name = machine.group("two", **two(500, 100, stat))
    assert machine.groups() == [MemoryGroup(name, 500, 40)]
    machine.mount(V1)
    machine.place("4:memory:/one")
    stat = "cache 9\ntotal_inactive_file 40\ntotal_active_file 30\ntotal_dirty 10"
    name = machine.group("one", **one(500, 100, stat))
    assert machine.groups() == [MemoryGroup(name, 500, 40)]


def test_the_innermost_counts_by_itself_if_it_has_a_limit(machine: Machine) -> None:
    machine.mount(V2)
    machine.place("0::/pod/container")
    machine.group("pod", **two(900, 300))
    inner = machine.group("pod/container", **two("max"))
    read = MemoryGroups(MemoryHierarchy(machine.proc), innermost_only=True)
    assert read([7]) == {7: []}
    machine.group("pod/container", **two(500, 100))
    assert read([7]) == {7: [MemoryGroup(inner, 500, 100)]}


def test_what_several_are_in_is_read_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.mount(V2)
    machine.place("0::/pod/container")
    (machine.proc / "8").symlink_to(machine.proc / "7")
    inner = MemoryGroup(machine.group("pod/container", **two(500, 100)), 500, 100)
    outer = MemoryGroup(machine.group("pod", **two(900, 300)), 900, 300)
    read: list[Path] = []
    real = Path.read_text

    def count(path: Path, encoding: str) -> str:
        read.append(path)
        return real(path, encoding)

    monkeypatch.setattr(Path, "read_text", count)
    assert machine.read([7, 8]) == {7: [inner, outer], 8: [inner, outer]}
    assert len([path for path in read if path.name == "memory.stat"]) == 2


def test_what_cannot_be_found_is_told_once_and_not_guessed(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    machine.mount(V2)
    machine.place("0::/../podX/cri-1")
    machine.group("podX/cri-1", **two(500))
    assert machine.groups() == machine.groups() == []
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "not known" in record.message
    assert "outside of the cgroups that are mounted here" in str(record.__dict__)
    machine.mount("nonsense")
    assert machine.groups() == machine.groups() == []
    assert len(caplog.records) == 2


def test_who_is_gone_is_in_no_cgroup(machine: Machine) -> None:
    machine.mount(V2)
    assert machine.groups() == []
    machine.place("0::/removed", "nonsense")
    assert machine.groups() == []
    machine.group("removed", memory__max="12x")
    assert machine.groups() == []


@pytest.mark.parametrize(
    ("release", "charges"),
    [("5.4.0-190-generic", False), ("5.13.19", False), ("5.14.0-503.el9", True), ("6.8.1", True)],
)
def test_old_kernels_charge_nobody(release: str, charges: bool) -> None:
    assert charges_pages(release) is charges


# The real thing, where this machine lets us.


@pytest.fixture
def real_cgroup() -> Iterator[Path]:
    """A cgroup of our own with a limit of 200 MiB."""
    places = {
        Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes",
        Path("/sys/fs/cgroup"): "memory.max",
    }
    for place, name in places.items():
        folder = place / f"nvshare-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / name).exists():
                (folder / name).write_text(str(200 * MIB))
                yield folder
                return
        finally:
            folder.rmdir()
    pytest.skip("no cgroup can be made here")


def test_a_process_in_a_real_cgroup_is_found_there(real_cgroup: Path) -> None:
    script = (
        "import sys; sys.stdin.readline(); block = bytearray(50 << 20);"
        "print(flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        assert child.stdin
        assert child.stdout
        (real_cgroup / "cgroup.procs").write_text(str(child.pid))
        child.stdin.write(b"\n")
        child.stdout.readline()
        groups = MemoryGroups()([child.pid])[child.pid]
        child.stdin.close()
    assert groups[0].name == os.fspath(real_cgroup)
    assert groups[0].limit == 200 * MIB
    assert 50 * MIB <= groups[0].used <= 100 * MIB
