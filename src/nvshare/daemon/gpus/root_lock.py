"""Root's own lock of a GPU: a file that only root can make or lock.

The lock that every daemon takes (launch/holders.py) is a name that any user can take first, and
then the machine's daemon could not start. So root's daemons agree by these files, and go on without
the name if another user has it.

An emulated node is a machine of its own, and its files are in its folder.
"""

import fcntl
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from nvshare.launch.holders import Holder
from nvshare.wire import environment

_FOLDER = Path("/run/nvshare-gpus")


def lock_for_root(uuid: str, environ: Mapping[str, str]) -> int | Holder | None:
    """Lock a GPU; return a descriptor to keep, or the holder. None: there is no place for locks."""
    node = environ.get(environment.EMULATOR_NODE)
    try:
        file = _open(Path(node) / "gpus-of-root" if node else _FOLDER, uuid)
    except OSError:
        # For example, in a container that cannot write there.
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        words = os.pread(file, 32, 0).split()
        os.close(file)
        pid = int(words[0]) if words and words[0].isdigit() else 0
        return Holder(uuid, pid, os.getuid(), "")
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
    return file


def _open(folder: Path, name: str) -> int:
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} is not a folder that belongs to this user alone")
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(folder / name, flags, 0o600)
