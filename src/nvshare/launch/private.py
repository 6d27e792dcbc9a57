"""The daemon's private folder: its lock, its log, and its notes for the next daemon.

The folder of the sockets is mounted into containers, and root in a container passes for root: it
can open a file there, and hold a lock on it for any time. So that folder contains only sockets, and
the rest is in another folder beside it, for the daemon's user only.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from nvshare.wire import environment

LOCK = "daemon.lock"
_END = "-private"


def private_folder(folder: Path, environ: Mapping[str, str]) -> Path:
    """Return the private folder of a daemon whose sockets are in a folder; it need not exist."""
    if given := environ.get(environment.PRIVATE_DIR):
        return Path(given).absolute()
    return folder.with_name(f"{folder.name}{_END}")


def make_private(folder: Path, environ: Mapping[str, str]) -> Path:
    """Make the private folder. Raises OSError if it was named explicitly and cannot be used.

    If nothing can be made beside the folder of the sockets, or another user has made it, the
    private folder is inside: still for the daemon's user only, but not hidden from containers.
    """
    wanted = private_folder(folder, environ)
    try:
        return _make(wanted)
    except OSError:
        if environ.get(environment.PRIVATE_DIR):
            raise
    return _make(folder / _END.strip("-"))


def _make(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{path} is not a folder that belongs to you")
    path.chmod(0o700)
    # It may be on a file system that has become read-only.
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written to")
    return path
