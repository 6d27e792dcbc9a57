"""A cache, outside the repository, of files that take long to make and are always the same."""

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
    """Return the folder of the cache."""
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nvshare"
    path.mkdir(parents=True, exist_ok=True)
    return path


def kept(path: Path, make: Make) -> Path:
    """Return a cached path, made now if it is missing. It exists as a whole or not at all."""
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
    """Return the cached path of this key. Those of other keys under the same name are removed."""
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
