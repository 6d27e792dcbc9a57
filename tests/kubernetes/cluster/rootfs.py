"""The root folders that images are made of. No image registry is asked: Debian's packages are."""

import subprocess
from pathlib import Path

from tools.cache import kept_last


def debian() -> Path:
    """Return a root folder much like that of the image debian:slim."""

    def make(root: Path) -> None:
        run("debootstrap", "--variant=minbase", "bookworm", root)
        for stale in (root / "var/cache/apt/archives").glob("*.deb"):
            stale.unlink()

    return kept_last("debian", ["bookworm", "minbase"], make)


def musl(program: Path) -> Path:
    """Return a root folder whose only C library is musl, and whose only program is this one."""

    def make(root: Path) -> None:
        root.mkdir()
        packages = root / "packages"
        packages.mkdir()
        run("apt-get", "update")
        run("apt-get", "download", "musl", "musl-dev", cwd=packages)
        for package in packages.glob("*.deb"):
            run("dpkg-deb", "--extract", package, root)
            package.unlink()
        packages.rmdir()
        objects, shared = root / "usr/lib/x86_64-linux-musl", root / "lib/x86_64-linux-musl"
        run(
            *("cc", "-nostdinc", "-isystem", root / "usr/include/x86_64-linux-musl", "-nostdlib"),
            *("-Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1", "-o", root / "program"),
            *(
                objects / "crt1.o",
                objects / "crti.o",
                program,
                f"-L{shared}",
                "-lc",
                objects / "crtn.o",
            ),
        )

    return kept_last("musl", ["2", program.read_text()], make)


def copy(source: Path, target: Path) -> None:
    """Copy a root folder with all its attributes."""
    run("cp", "--archive", "--reflink=auto", source, target)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command; its output is shown if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
