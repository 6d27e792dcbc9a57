"""Where the memory cgroup of a process is: on a machine, and seen from a container of the node."""

from pathlib import Path

import pytest

from nvshare.daemon.host.hierarchy import MemoryHierarchy, Place, UnknownPlaceError

# With either driver of kubelet: the container of the daemon, that of a pod of the same class, that
# of a pod of another class, and something that is no pod.
CGROUPFS = [
    "kubepods/burstable/pod0a/d0",
    "kubepods/burstable/pod1b/c1",
    "kubepods/pod2c/c2",
    "system/sshd",
]
SYSTEMD = [
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a.slice/cri-containerd-d0.scope",
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b.slice/cri-containerd-c1.scope",
    "kubepods.slice/kubepods-pod2c.slice/crio-c2.scope",
    "system.slice/sshd.service",
]


class Machine:
    """A /proc, and hierarchies of cgroups in a folder. We are in the container ``d0``."""

    def __init__(self, folder: Path, version: int) -> None:
        self.version = version
        self.proc = folder / "proc"
        # That of the node as it is mounted in our container, and our own as the runtime mounts it.
        self.node = folder / "node"
        self.top = self.node if version == 2 else self.node / "memory"
        self.own = folder / "own"
        self.top.mkdir(parents=True)
        (self.proc / "self").mkdir(parents=True)
        (self.proc / "7").mkdir()

    def make(self, *paths: str) -> None:
        for path in paths:
            (self.top / path).mkdir(parents=True, exist_ok=True)

    def mount(self, *mounts: tuple[str, Path], hierarchy: str = "0:38") -> None:
        """Mount parts of the hierarchy: where each begins, as we see it, and at which folder."""
        kind = "cgroup2 cgroup2 rw" if self.version == 2 else "cgroup cgroup rw,memory"
        lines = [
            f"41 31 {hierarchy} {root} {point} ro,relatime - {kind}".replace("a b", r"a\040b")
            for root, point in mounts
        ]
        other = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu"
        path = self.proc / "self" / "mountinfo"
        path.write_text("\n".join([other, *lines, "nonsense"]) + "\n")

    def contain(self, own: str) -> None:
        """Be in a cgroup namespace: all that we see begins at our own cgroup."""
        self.own.symlink_to(self.top / own)
        up = "/.." * len(Path(own).parts)
        self.mount(("/", self.own), (up, self.top))

    def place(self, path: str) -> None:
        text = f"0::{path}\n" if self.version == 2 else f"5:cpu:/x\n4:memory:{path}\n0::/\n"
        (self.proc / "7" / "cgroup").write_text(text + "nonsense\n")

    def find(self, path: str, *, inside: bool = True) -> Place | None:
        """Find a process that is, as we see it, in this cgroup."""
        self.place(path)
        return MemoryHierarchy(self.proc, self.node if inside else None).find(7)

    def found(self, path: str, *, inside: bool = True) -> str:
        place = self.find(path, inside=inside)
        assert place is not None
        assert (place.version, place.top) == (self.version, self.top)
        return str(place.folder.relative_to(self.top))


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return Machine(tmp_path, request.param)


def seen_from(own: str, other: str) -> str:
    """Write a place as the kernel shows it in a namespace that begins at another one."""
    us, them = Path(own).parts, Path(other).parts
    common = 0
    while common < min(len(us), len(them)) and us[common] == them[common]:
        common += 1
    return "/" + "/".join([".."] * (len(us) - common) + list(them[common:]))


def test_places_are_written_as_the_kernel_does() -> None:
    assert seen_from("a/b/c", "a/d/e") == "/../../d/e"
    assert seen_from("a/b", "a/b") == "/"


@pytest.mark.parametrize("driver", [CGROUPFS, SYSTEMD], ids=["cgroupfs", "systemd"])
def test_pods_are_found_from_a_namespace_of_the_nodes(machine: Machine, driver: list[str]) -> None:
    # containerd with version 1, and privileged containers.
    machine.make(*driver)
    machine.mount((f"/{driver[0]}", machine.own), ("/", machine.top))
    assert [machine.found(f"/{path}") for path in driver] == driver


@pytest.mark.parametrize("driver", [CGROUPFS, SYSTEMD], ids=["cgroupfs", "systemd"])
def test_pods_are_found_from_a_namespace_of_our_own(machine: Machine, driver: list[str]) -> None:
    machine.make(*driver)
    machine.contain(driver[0])
    assert [machine.found(seen_from(driver[0], path)) for path in driver] == driver


def test_what_the_dots_stand_for_is_not_guessed_from_names(machine: Machine) -> None:
    # The names of a pod are there twice, as in a node that is itself a container of a node.
    machine.make("a/pod/d0", "a/pod/c1", "b/pod/d0", "b/pod/c1")
    machine.contain("b/pod/d0")
    assert machine.found("/../c1") == "b/pod/c1"
    assert machine.found("/../../../a/pod/c1") == "a/pod/c1"


def test_a_container_that_does_not_find_itself_knows_nothing(machine: Machine) -> None:
    machine.make(*CGROUPFS)
    up = "/../../../.."
    for mounts in ([(up, machine.top)], [(up, machine.top), ("/", machine.proc)]):
        machine.mount(*mounts)
        with pytest.raises(UnknownPlaceError, match="the cgroup of its own container"):
            machine.find("/../../pod1b/c1")
        # A place can be told unless it is inside the part that both of us lie in.
        assert machine.found("/../../../../kubepods/pod2c/c2") == "kubepods/pod2c/c2"


def test_an_inode_of_another_hierarchy_is_not_ours(machine: Machine) -> None:
    machine.make(*CGROUPFS)
    machine.contain(CGROUPFS[0])
    path = machine.proc / "self" / "mountinfo"
    path.write_text(path.read_text().replace("0:38 / ", "0:39 / "))
    with pytest.raises(UnknownPlaceError, match="the cgroup of its own container"):
        machine.find("/../../pod1b/c1")


def test_the_containers_own_mount_shows_nobody_else(machine: Machine) -> None:
    machine.make(*CGROUPFS)
    machine.own.symlink_to(machine.top / CGROUPFS[0])
    machine.mount(("/", machine.own))
    with pytest.raises(UnknownPlaceError, match="outside of the cgroups that are mounted here"):
        machine.find("/../../pod1b/c1", inside=False)
    machine.mount((f"/{CGROUPFS[0]}", machine.own))
    with pytest.raises(UnknownPlaceError, match="outside of the cgroups that are mounted here"):
        machine.find(f"/{CGROUPFS[1]}", inside=False)


def test_who_is_above_what_is_mounted_is_unknown(machine: Machine) -> None:
    # A node that is a container sees its own part of the machine's hierarchy.
    machine.make("kubepods/pod1b/c1", "kubepods/pod0a/d0")
    machine.contain("kubepods/pod0a/d0")
    with pytest.raises(UnknownPlaceError, match="outside"):
        machine.find("/../../../../somebody/else")
    machine.mount(("/kubepods", machine.top))
    with pytest.raises(UnknownPlaceError, match="outside"):
        machine.find("/system/other")
    machine.mount(("/../pod1b", machine.top))
    with pytest.raises(UnknownPlaceError, match="outside"):
        machine.find("/inner")


def test_a_part_of_the_hierarchy_may_be_mounted(machine: Machine) -> None:
    machine.make("pod1b/c1", "c1")
    machine.mount(("/kubepods", machine.top))
    assert machine.found("/kubepods/pod1b/c1") == "pod1b/c1"
    machine.mount(("/../pod1b", machine.top))
    assert machine.found("/../pod1b/c1") == "c1"


def test_a_folder_without_cgroups_is_told_of(machine: Machine) -> None:
    machine.make(*CGROUPFS)
    machine.mount(("/", machine.own))
    with pytest.raises(UnknownPlaceError, match=f"mounted at {machine.node}"):
        machine.find(f"/{CGROUPFS[1]}")


def test_the_mount_that_shows_most_is_taken(machine: Machine) -> None:
    machine.make("kubepods/pod1b/c1")
    part = ("/kubepods", machine.top / "kubepods")
    for mounts in ([part, ("/", machine.top)], [("/", machine.top), part]):
        machine.mount(*mounts)
        assert machine.found("/kubepods/pod1b/c1", inside=False) == "kubepods/pod1b/c1"


def test_names_with_blanks_are_found(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    machine = Machine(tmp_path / "a b", 2)
    machine.make("x")
    machine.mount(("/", machine.top))
    assert machine.found("/x") == "x"


def test_who_is_gone_is_nowhere(machine: Machine) -> None:
    machine.mount(("/", machine.top))
    assert MemoryHierarchy(machine.proc).find(7) is None
    assert machine.find("/removed") is None
    (machine.proc / "7" / "cgroup").write_text("5:cpu:/x\n")
    assert MemoryHierarchy(machine.proc).find(7) is None


def test_on_a_machine_with_both_versions_one_of_them_counts_memory(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 1)
    (tmp_path / "node" / "unified").mkdir()
    path = machine.proc / "self" / "mountinfo"
    path.write_text(f"42 31 0:39 / {tmp_path}/node/unified rw - cgroup2 cgroup2 rw\n")
    with pytest.raises(UnknownPlaceError, match="no cgroups that count memory"):
        machine.find("/pod")
