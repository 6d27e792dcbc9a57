"""Real cgroups as seen by a container with a cgroup namespace of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "containing.py"
ENTER = ("/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"')
MIB = 1 << 20


def hierarchies() -> dict[int, Path]:
    """Return where this machine has version 1 with memory, and version 2 with any controllers."""
    found = {}
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2":
            found[2] = Path(point)
        elif kind == "cgroup" and "memory" in options.split(","):
            found[1] = Path(point)
    return found


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def tree(request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """Make cgroups as kubelet does, in one of the hierarchies."""
    version = request.param
    if version not in hierarchies():
        pytest.skip(f"version {version} of cgroups is not mounted here")
    top = hierarchies()[version] / f"nvshare-test-{os.getpid()}"
    folders = [top, top / "burst", *(top / "burst" / name for name in ("d0", "c1")), top / "c2"]
    try:
        top.mkdir()
    except OSError:
        pytest.skip("no cgroup can be made here")
    try:
        for folder in folders:
            folder.mkdir(exist_ok=True)
            delegate_memory(folder)
        for folder, mib in ((top, 900), (top / "burst", 700), (top / "burst" / "c1", 500)):
            for name in ("memory.limit_in_bytes", "memory.max"):
                if (folder / name).exists():
                    (folder / name).write_text(str(mib * MIB))
        yield version, top
    finally:
        for folder in reversed(folders):
            if folder.exists():
                folder.rmdir()


def delegate_memory(folder: Path) -> None:
    """Enable the memory controller below a cgroup of version 2: processes are in leaves."""
    controllers = folder / "cgroup.controllers"
    if not controllers.exists() or "memory" not in controllers.read_text().split():
        return
    if folder.name not in ("d0", "c1", "c2"):
        (folder / "cgroup.subtree_control").write_text("+memory")


@contextmanager
def process_in(folder: Path) -> Iterator[int]:
    command = [*ENTER, str(folder / "cgroup.procs"), "sh", "-c", "echo; read end"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid
        process.communicate()


def test_others_are_found_with_all_that_they_lie_in(tree: tuple[int, Path], tmp_path: Path) -> None:
    version, top = tree
    us, same, other = top / "burst" / "d0", top / "burst" / "c1", top / "c2"
    with process_in(same) as one, process_in(other) as two:
        done = subprocess.run(
            [
                *(*ENTER, str(us / "cgroup.procs"), "unshare", "--cgroup", "--mount"),
                *(sys.executable, str(PROGRAM), str(version), str(top.parent), str(tmp_path)),
                *(str(one), str(two)),
            ],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    texts, folders, limits = zip(*answers, strict=True)
    # The kernel shows a container no more than this.
    told = [line.rpartition(":")[2] for text in texts for line in text if is_ours(line, version)]
    assert told == ["/../c1", "/../../c2"]
    assert list(folders) == [str(path.relative_to(top.parent)) for path in (same, other)]
    if version == 1 or (top / "memory.max").exists():
        assert list(limits) == [[500 * MIB, 700 * MIB, 900 * MIB], [900 * MIB]]
    else:
        # Nothing counts memory there.
        assert list(limits) == [[], []]


def is_ours(line: str, version: int) -> bool:
    return line.startswith("0::") if version == 2 else ":memory:" in line
