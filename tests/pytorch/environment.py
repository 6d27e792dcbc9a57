"""Environments with PyTorch in them: several GB each, kept in the user's cache, one per version.

Started as a program, it makes missing environments, and prints where they are and how to remove
them; with --list it only prints.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# The newest on PyPI, and the last one there that was built for CUDA 12.
NEWEST, CUDA_12 = "2.15.0", "2.9.1"
VERSIONS = (NEWEST, CUDA_12)
# The size of a finished environment, plus room for pip to unpack the largest of its wheels.
NEEDED = {NEWEST: 6 << 30, CUDA_12: 8 << 30}
_COMPLETE = "complete"


class ImpossibleError(Exception):
    """PyTorch cannot be installed on this machine; the message says why."""


def cache() -> Path:
    """The folder in which the environments are."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "nvshare"


def folder(version: str) -> Path:
    """The environment of a version, for this version of Python."""
    return cache() / f"torch-{version}-{sys.implementation.cache_tag}"


def python(version: str) -> Path:
    """The Python that has this PyTorch."""
    place = folder(version)
    if not (place / _COMPLETE).exists():
        raise FileNotFoundError(f"{place} is not there: `make test-torch` makes it")
    return place / "bin" / "python"


def make(version: str) -> None:
    """Make an environment, unless it is there."""
    place = folder(version)
    place.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{place}.lock").open("w") as lock:
        # Of two processes that come at once, one makes it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / _COMPLETE).exists():
            return
        shutil.rmtree(place, ignore_errors=True)
        free = shutil.disk_usage(place.parent).free
        if free < NEEDED[version]:
            raise ImpossibleError(
                f"PyTorch {version} needs {NEEDED[version] >> 30} GiB in {place.parent}, and "
                f"{free >> 30} GiB are free; make room, or choose another disk with XDG_CACHE_HOME"
            )
        print(f"installing PyTorch {version} in {place}: this takes a few minutes", flush=True)
        _install(version, place)
        (place / _COMPLETE).touch()


def _install(version: str, place: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
    # Its cache would hold all of it a second time.
    pip += ["--no-cache-dir", "-r", str(HERE / "environments" / f"{version}.txt")]
    done = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no reason"]
        raise ImpossibleError(
            f"PyTorch {version} cannot be had from the package index, as pip says: {said[-1]}"
        )


def main() -> None:
    """Make environments, or list them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    if not parser.parse_args().list:
        for version in VERSIONS:
            try:
                make(version)
            except ImpossibleError as error:
                raise SystemExit(str(error)) from error
    places = " ".join(str(folder(version)) for version in VERSIONS if folder(version).exists())
    print(f"PyTorch is in {places}" if places else "There is no PyTorch here.")
    if places:
        print(f"To remove it: rm -rf {places}")


if __name__ == "__main__":
    main()
