"""Reads a TOML file as a dictionary, in any supported Python."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
