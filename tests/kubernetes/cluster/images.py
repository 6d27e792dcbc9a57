"""The images of the tests, made on the spot."""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nvshare
from nvshare.lab.emulator.workload import installed_program
from tools.cache import kept_last

from .archive import write_archive
from .dockerfile import Built, build
from .rootfs import copy, debian, musl, run

_ROOT = Path(__file__).parents[3]
_PROGRAMS = Path(__file__).parents[1] / "programs"
_DOCKERFILE = _ROOT / "deploy" / "docker" / "Dockerfile"

NVSHARE = f"docker.io/library/nvshare:{nvshare.__version__}"
# A user's programs: Debian, our driver-API workload, and one that watches its limit.
WORKLOAD = "docker.io/library/workload:1"
MUSL = "docker.io/library/musl:1"
PAUSE = "docker.io/library/pause:1"


def all_archives() -> list[Path]:
    """Return the archives of all images."""
    return [_nvshare(), _workload(), _musl(), _pause()]


def _nvshare() -> Path:
    """Build the wheel, and from it the image of the Dockerfile."""
    with tempfile.TemporaryDirectory() as scratch:
        dist = Path(scratch) / "dist"
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
                *("--no-build-isolation", f"--wheel-dir={dist}", _ROOT),
            ],
            check=True,
        )
        (wheel,) = dist.glob("*.whl")

        def make(target: Path) -> None:
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                write_archive(build(_DOCKERFILE, Path(scratch), Path(folder)), NVSHARE, target)

        return kept_last("image-nvshare", [_DOCKERFILE.read_text(), *_contents(wheel)], make)


def _contents(wheel: Path) -> Iterator[str]:
    """The contents of a wheel, without timestamps."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            yield f"{entry.filename} {entry.CRC} {entry.file_size}"


def _workload() -> Path:
    program = installed_program("workloads", "driver-add")
    source = _PROGRAMS / "watch_limit.c"

    def make(target: Path) -> None:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            root = Path(folder) / "root"
            copy(debian(), root)
            run("cp", program, root / "usr/local/bin/driver-add")
            run("cc", "-Wall", "-o", root / "usr/local/bin/watch-limit", source, "-ldl")
            built = Built(root, {"PATH": "/usr/local/bin:/usr/bin:/bin"}, command=["driver-add"])
            write_archive(built, WORKLOAD, target)

    return kept_last("image-workload", [program.read_bytes().hex(), source.read_text()], make)


def _musl() -> Path:
    root = musl(_PROGRAMS / "plain.c")
    return kept_last(
        "image-musl",
        [str(root)],
        lambda target: write_archive(Built(root, command=["/program"]), MUSL, target),
    )


def _pause() -> Path:
    source = _PROGRAMS / "pause.c"

    def make(target: Path) -> None:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            root = Path(folder) / "root"
            root.mkdir()
            run("cc", "-static", "-Os", "-o", root / "pause", source)
            write_archive(Built(root, command=["/pause"]), PAUSE, target)

    return kept_last("image-pause", [source.read_text()], make)
