"""The limits that people have set, in a file: they hold for the next daemon as well."""

import contextlib
import json
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nvshare.daemon.logs import fields
from nvshare.telemetry.settings import ClientLimits

log = logging.getLogger("nvshare.groups")

Changes = dict[str, Any]
"""Some fields of ClientLimits, as they were set; None lifts a limit."""


class Remembered:
    """What was set, by the key of the group that it was set for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changes = _read(path)

    def of(self, key: str) -> Changes:
        """What was set for a group."""
        return dict(self._changes.get(key, {}))

    def set(self, key: str, changes: Changes) -> None:
        """Note what is set for a group; nothing: forget it."""
        if changes == self._changes.get(key, {}):
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
                return
            new.write_text(json.dumps(self._changes), encoding="utf-8")
            new.replace(self.path)
        except OSError as error:
            log.warning(
                "limits that were set will not outlive the daemon",
                extra=fields(file=self.path, why=error.strerror),
            )


def _read(path: Path) -> dict[str, Changes]:
    """Read the file. One that cannot be read is as good as none, entry by entry."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    good: dict[str, Changes] = {}
    for key, changes in found.items() if isinstance(found, dict) else ():
        with contextlib.suppress(ValidationError, TypeError):
            ClientLimits().changed(changes)
            good[key] = changes
    return good
