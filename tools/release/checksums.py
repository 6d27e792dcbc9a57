"""SHA-256 sums of all released files, in the form that `sha256sum --check` reads."""

import hashlib
from pathlib import Path

from tools.release.tree import DIST

NAME = "SHA256SUMS"


def sums(folder: Path) -> str:
    """Return a line for each file of a folder, by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != NAME)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )


def write_sums() -> None:
    """Write the sums of the files in dist/. Later files are not included."""
    (DIST / NAME).write_text(sums(DIST))
