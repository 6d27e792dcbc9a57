"""Notes for the next daemon: the limits that users have set, and which groups have quota pages."""

import contextlib
import json
import logging
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nvshare.daemon.logs import fields
from nvshare.parsing import parse_json
from nvshare.settings import ClientLimits

log = logging.getLogger("nvshare.groups")

Changes = dict[str, Any]
"""Some fields of ClientLimits, as they were set; None lifts a limit."""


class ChosenLimits:
    """The limits that users have set, by the key of the group."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changes = _read(path)
        # Why the last change is not in the file, for users; empty: it is.
        self.problem = ""

    def of(self, key: str) -> Changes:
        """The limits that were set for a group."""
        return dict(self._changes.get(key, {}))

    def set(self, key: str, changes: Changes) -> None:
        """Note the limits set for a group; an empty change forgets them."""
        if changes == self._changes.get(key, {}) and not self.problem:
            return
        self._changes.pop(key, None)
        if changes:
            self._changes[key] = changes
        self._write()

    def keep(self, keys: Collection[str]) -> None:
        """Forget all other groups."""
        for key in [key for key in self._changes if key not in keys]:
            self.set(key, {})

    def _write(self) -> None:
        new = self.path.with_suffix(".new")
        try:
            if not self._changes:
                self.path.unlink(missing_ok=True)
                self.problem = ""
                return
            new.write_text(json.dumps(self._changes), encoding="utf-8")
            new.replace(self.path)
            self.problem = ""
        except OSError as error:
            self.problem = error.strerror or str(error)
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            log.warning(
                "limits that were set cannot be stored, and are lost when the daemon ends",
                extra=fields(file=self.path, why=error.strerror),
            )


class Notes:
    """Which groups have a page for which GPU: an empty file for each.

    The programs have the page itself, and bring it along. Until one of them does, the note of an
    earlier daemon says that the page is still out.
    """

    _END = ".page"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._out = {path.name for path in folder.glob(f"*{self._END}")}

    def is_out(self, key: str, device: str) -> bool:
        """Whether a group had a page under an earlier daemon, and no program has brought it yet."""
        return self._name(key, device) in self._out

    def add(self, key: str, device: str) -> None:
        """Note that a group has a page."""
        self._out.discard(self._name(key, device))
        # Without the note, a newcomer after a restart does not wait for the page.
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            os.close(os.open(self._place(key, device), flags, 0o600))

    def remove(self, key: str, device: str) -> None:
        """Note that the page of a group is no longer needed."""
        with contextlib.suppress(OSError):
            os.unlink(self._place(key, device))  # noqa: PTH108  (as in _place)

    def keep(self, pages: Collection[tuple[str, str]]) -> None:
        """Forget all other pages: no program has brought them back."""
        kept = {self._name(key, device) for key, device in pages}
        self._out.clear()
        for path in self._folder.glob(f"*{self._END}"):
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def _place(self, key: str, device: str) -> str:
        # Not with pathlib, which interns every part of a path: the key of a process never comes
        # again.
        return f"{self._folder}/{self._name(key, device)}"

    def _name(self, key: str, device: str) -> str:
        return f"{key}.{device}{self._END}"


def _read(path: Path) -> dict[str, Changes]:
    """Read the file. An unreadable file, or an unreadable entry, is ignored."""
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    good: dict[str, Changes] = {}
    for key, changes in found.items() if isinstance(found, dict) else ():
        with contextlib.suppress(ValidationError, TypeError):
            ClientLimits().changed(changes)
            good[key] = changes
    return good
