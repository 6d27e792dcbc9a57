"""The folder that holds all emulated nodes of this user."""

import os
import stat
import tempfile
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.wire import environment

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (ownership is checked below)


def node_root() -> Path:
    """Return the folder of this user's nodes, made if needed, readable by this user only.

    It is in shared memory, where the state of a node belongs; without shared memory, in the folder
    for temporary files; or in the folder that the user has set.
    """
    if given := os.environ.get(environment.EMULATOR_ROOT):
        return private_folder(Path(given).absolute())
    usable = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK)
    parent = _SHARED_MEMORY if usable else Path(tempfile.gettempdir())
    return private_folder(parent / f"nvshare-emulator-{os.getuid()}")


def private_folder(path: Path) -> Path:
    """Make a folder of mode 0700, or check that the existing one is ours alone.

    The parent is writable by all users, so another user may have taken the name first.
    """
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise NvshareError(
            f"{path} cannot be used for emulated nodes",
            why="it exists, and is not a folder that belongs to you",
            do="ask its owner or an administrator to remove it",
        )
    path.chmod(0o700)
    return path
