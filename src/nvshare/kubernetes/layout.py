"""Lays out the folder from which a node's containers get the interposer.

    <version>/libnvshare.so            the interposer
    <version>/{lib,lib64,…} -> .       so that $LIB leads to it, whatever glibc expands it to
    <version>/$LIB/libnvshare.so       what is preloaded where $LIB is not expanded
    <version>/ld.so.preload            for /etc/ld.so.preload
    <version>/emulator/                the emulated driver, NVML and CUDA runtimes

Programs have these files open, so they are replaced by renaming, and other versions stay.
"""

import os
import shutil
from importlib.resources import files
from pathlib import Path

import nvshare
from nvshare.lab.emulator.libraries import DRIVER, NVML, RUNTIMES, library_folder
from nvshare.launch.preload import LIBRARY, library

# Where it is inside containers.
INSIDE = Path("/usr/local/nvshare")
# What glibc expands $LIB to: "lib/x86_64-linux-gnu" on Debian, "lib64" on Fedora, …
_LINKS = ("lib", "lib64", "x86_64-linux-gnu", "aarch64-linux-gnu")
PLACE = "$LIB"
PRELOAD_FILE = "ld.so.preload"
EMULATOR = "emulator"


def version_folder(folder: Path) -> Path:
    """Return the folder of this version of nvshare, existing or not."""
    return folder / nvshare.__version__


def install(folder: Path) -> Path:
    """Create the layout; return the folder of this version."""
    target = version_folder(folder)
    for part in (target, target / PLACE, target / EMULATOR):
        part.mkdir(mode=0o755, parents=True, exist_ok=True)
    for link in _LINKS:
        if not (target / link).is_symlink():
            (target / link).symlink_to(".")
    _copy(library(), target / LIBRARY)
    _copy(Path(str(files("nvshare") / "lib" / "otherlibc" / LIBRARY)), target / PLACE / LIBRARY)
    for name in (DRIVER, NVML, *RUNTIMES):
        _copy(library_folder() / name, target / EMULATOR / name)
    _replace(target / PRELOAD_FILE, f"{INSIDE / LIBRARY}\n".encode())
    return target


def _copy(source: Path, target: Path) -> None:
    _replace(target, source.read_bytes())
    shutil.copymode(source, target)


def _replace(target: Path, content: bytes) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.chmod(0o644)
    draft.replace(target)
