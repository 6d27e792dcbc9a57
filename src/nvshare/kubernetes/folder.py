"""Reports when a file appears in a folder or disappears: inotify, on the event loop."""

import asyncio
import ctypes
import os
from pathlib import Path

_IN_CREATE, _IN_DELETE, _IN_MOVED_TO = 0x100, 0x200, 0x80
_BYTES = 65536


class FolderWatch:
    """Waits for changes in a folder. The caller has to find out what has changed."""

    def __init__(self, folder: Path) -> None:
        self._changed = asyncio.Event()
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        mask = _IN_CREATE | _IN_DELETE | _IN_MOVED_TO
        if self._fd < 0 or libc.inotify_add_watch(self._fd, os.fsencode(folder), mask) < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    async def wait(self) -> None:
        """Wait until something has changed since the last time."""
        await self._changed.wait()
        self._changed.clear()

    def close(self) -> None:
        """Stop watching."""
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)

    def _read(self) -> None:
        os.read(self._fd, _BYTES)
        self._changed.set()
