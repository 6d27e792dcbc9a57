"""Memory cgroups for the daemon and for programs, where they can be made.

Host memory for explicit memory is charged to the daemon's cgroup, that for managed memory to the
program's.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.integration.cgroups import KINDS, set_limit, usage

_MIB = 1 << 20
_PLENTY = 1 << 40
_PATIENCE = 10.0


class Cgroup:
    """A cgroup that is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir()
        set_limit(self._folder, _PLENTY)

    def take(self, pid: int) -> None:
        """Put a process into it."""
        with suppress(ProcessLookupError):
            (self._folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")

    @contextmanager
    def limited(self, mib: int, *, is_more: bool) -> Iterator[None]:
        """Limit it to so many MiB within this context, or to so many more than it has now."""
        set_limit(self._folder, mib * _MIB + (usage(self._folder) if is_more else 0))
        try:
            yield
        finally:
            set_limit(self._folder, _PLENTY)

    def remove(self) -> None:
        """Remove it, when the last process is gone."""
        deadline = time.monotonic() + _PATIENCE
        while self._folder.exists():
            try:
                self._folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def make_cgroup(name: str) -> Cgroup | None:
    """Make one, if that can be done here."""
    for parent, limit in KINDS.items():
        folder = parent / f"nvshare-chaos-{os.getpid()}-{name}"
        try:
            cgroup = Cgroup(folder)
        except (OSError, ValueError):
            with suppress(OSError):
                folder.rmdir()
            continue
        if (folder / limit).exists():
            return cgroup
    return None
