"""A node that lives as long as a ``with`` block, and is removed even after a kill.

Its creator holds a lock on a file beside the node's folder, taken before the folder appears. The
kernel drops the lock when the process dies in any way, so the next process can tell a forgotten
node from one in use.
"""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from nvshare.errors import BadInputError
from nvshare.lab.emulator import emulated_node
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.profile import Profile

_PREFIX = "run-"


@contextlib.contextmanager
def transient_node(
    root: Path, settings: Settings, profiles: Sequence[Profile]
) -> Iterator[emulated_node.Node]:
    """Create a node with a unique name, and remove it at the end."""
    sweep(root)
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(3)}"
    with _lock_file(root, name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield emulated_node.create(root, name, settings, profiles)
        finally:
            _forget(root, name)


def sweep(root: Path) -> list[str]:
    """Remove transient nodes whose creators are dead; return their names."""
    forgotten = [
        name
        for name in emulated_node.list_names(root)
        if name.startswith(_PREFIX) and not _is_locked(_lock_file(root, name))
    ]
    for name in forgotten:
        _forget(root, name)
    return forgotten


def _forget(root: Path, name: str) -> None:
    # Another process may be sweeping too, or the user may have run `nvshare emulate down`.
    with contextlib.suppress(FileNotFoundError, BadInputError):
        emulated_node.remove(root, name)
    _lock_file(root, name).unlink(missing_ok=True)


def _lock_file(root: Path, name: str) -> Path:
    return root / f".{name}.lock"


def _is_locked(path: Path) -> bool:
    try:
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
