"""Builds the native half with options other than those of the installed one."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nvshare.lab.emulator.libraries import library_folder

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def build_on_driver(name: str, folder: Path) -> Path:
    """Compile a program of native/tests that is linked to libcuda."""
    program = folder / name
    find = [sys.executable, str(ROOT / "cmake" / "find_headers.py"), "cuda.h"]
    include = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", f"-isystem{include}"]
    command += [str(ROOT / "native" / "tests" / f"{name}.c"), "-lpthread"]
    command += [f"-L{library_folder()}", "-l:libcuda.so.1", "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    return program


def build_native(folder: Path, *options: str, targets: Sequence[str]) -> None:
    """Configure a build folder and make some of its targets."""
    cmake = str(BIN / "cmake")
    configure = [cmake, "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *options]
    configure += ["-DNVSHARE_WERROR=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"]
    for command in (configure, [cmake, "--build", str(folder), "--target", *targets]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
