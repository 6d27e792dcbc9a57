"""Builds the native half with other options than the installed one has."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def build_native(folder: Path, *options: str, targets: Sequence[str]) -> None:
    """Configure a build folder and make some of its targets."""
    cmake = str(BIN / "cmake")
    configure = [cmake, "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *options]
    configure += ["-DNVSHARE_WERROR=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"]
    for command in (configure, [cmake, "--build", str(folder), "--target", *targets]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
