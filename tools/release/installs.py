"""Installs the wheel of this machine into an empty environment as a user would, and tests it.

There is no compiler in that environment. The packages installed with it are the SBOM.
"""

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

from tools.release.tree import DIST, ROOT, Command, ReleaseError, run, tool, version
from tools.release.wheels import wheel

_PARTS = "kubernetes"


def try_wheel() -> None:
    """Install the wheel, run a program on an emulated GPU, and write the SBOM."""
    with tempfile.TemporaryDirectory(prefix="nvshare-release-") as scratch:
        place = Path(scratch) / "venv"
        run([sys.executable, "-m", "venv", place])
        environ = without_compiler(os.environ, place / "bin")
        python = place / "bin" / "python"
        install: Command = [python, "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
        run([*install, f"{wheel(platform.machine())}[{_PARTS}]"], environ)
        told = run([place / "bin" / "nvshare", "--version"], environ)
        if version() not in told:
            raise ReleaseError(f"the wheel reports version {told.strip()} instead of {version()}")
        run([place / "bin" / "nvshare", "demo", "--iterations=100", "--speed=50"], environ)
        # Not a part of nvshare: users have their own.
        run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"], environ)
        write_parts(python)


def without_compiler(environ: "os._Environ[str]", folder: Path) -> dict[str, str]:
    """Return an environment in which only programs of one folder are found."""
    kept = {key: value for key, value in environ.items() if not key.startswith("PYTHON")}
    return {**kept, "PATH": str(folder)}


def write_parts(python: Path) -> None:
    """Write a bill of materials (CycloneDX) of an environment."""
    target = DIST / f"nvshare-{version()}.cdx.json"
    command: Command = [
        tool("cyclonedx-py"),
        "environment",
        "--output-reproducible",
        "--mc-type=application",
    ]
    command += [f"--pyproject={ROOT / 'pyproject.toml'}", f"--output-file={target}", python]
    run(command)
    names = {part["name"] for part in json.loads(target.read_text())["components"]}
    if not {"aiohttp", "grpcio"} <= names:
        raise ReleaseError(f"{target.name} lacks parts of nvshare: it has {sorted(names)}")
