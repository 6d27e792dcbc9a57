"""Checks that every place that states the version agrees with pyproject.toml, which defines it.

CMake reads it there, and Python asks the installed distribution. The files listed here are read by
programs that can do neither.
"""

import re
from pathlib import Path

from tools.release.tree import ROOT, ReleaseError, version

_VERSION = r"(\d+\.\d+\.\d+)"
# Each match of a pattern is a version of ours.
PLACES = {
    "deploy/helm/nvshare/Chart.yaml": rf"^(?:version|appVersion): {_VERSION}$",
    "deploy/helm/nvshare/README.md": rf"^Version {_VERSION}\b",
    "deploy/manifests/nvshare.yaml": rf"\bimage: nvshare:{_VERSION}$",
    "deploy/manifests/nvshare-emulated.yaml": rf"\bimage: nvshare:{_VERSION}$",
    "deploy/docker/Dockerfile": rf"^ARG VERSION={_VERSION}$",
    "docs/installing.md": rf"\bnvshare(?:-emulated)?[:-]{_VERSION}\b",
    "docs/kubernetes.md": rf"\bnvshare[:-]{_VERSION}\b",
}


def found_versions(path: Path, pattern: str) -> set[str]:
    """Return the versions that a file names."""
    return set(re.findall(pattern, path.read_text(), re.MULTILINE))


def differences(root: Path) -> list[str]:
    """Return the places that have to be changed, as sentences."""
    wanted = {version()}
    return [
        f"{name} says {', '.join(sorted(found)) or 'no version'}"
        for name, pattern in PLACES.items()
        if (found := found_versions(root / name, pattern)) != wanted
    ]


def check_versions(root: Path = ROOT) -> None:
    """Fail if a place states another version."""
    if wrong := differences(root):
        raise ReleaseError(f"pyproject.toml says {version()}, but {'; '.join(wrong)}")
