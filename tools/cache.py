"""What takes long to make and is the same every time, kept outside of the repository."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

Make = Callable[[Path], None]
"""Makes a file or a folder at this path."""


def folder() -> Path:
    """Return the folder of what is kept."""
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nvshare"
    path.mkdir(parents=True, exist_ok=True)
    return path


def kept(path: Path, make: Make) -> Path:
    """Return what is kept at a path, made now if it is not there. It is there as a whole or not."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            print(f"making {path}", flush=True)
            with tempfile.TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent) as scratch:
                draft = Path(scratch) / "draft"
                make(draft)
                draft.rename(path)
    return path


def kept_last(name: str, key: Iterable[str], make: Make) -> Path:
    """Return what was made of this key. What was made of others under the same name goes."""
    place = folder() / "cluster"
    place.mkdir(exist_ok=True)
    path = place / f"{name}-{hashlib.sha256(chr(0).join(key).encode()).hexdigest()[:16]}"
    for old in place.glob(f"{name}-{'[0-9a-f]' * 16}*"):
        if not old.name.startswith(path.name):
            remove(old)
    return kept(path, make)


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
