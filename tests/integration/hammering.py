"""Builds the programs of native/tests that use the driver and check every byte they get back."""

import subprocess
from pathlib import Path

from nvshare.lab.emulator.libraries import DRIVER

ROOT = Path(__file__).parents[2]


def build_hammer(folder: Path, libraries: Path, *flags: str, name: str = "hammer") -> Path:
    """Compile one of them against the driver library in a folder. Further files: NAME_….c."""
    headers = subprocess.run(
        [ROOT / ".venv/bin/python", ROOT / "cmake/find_headers.py", "cuda.h"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    program, sources = folder / name, ROOT / "native/tests" / name
    files = sorted(sources.glob("*.c")) if sources.is_dir() else [sources.with_suffix(".c")]
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += [*flags, f"-isystem{headers}", *map(str, files)]
    command += [str(libraries / DRIVER), "-lpthread", "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    return program
