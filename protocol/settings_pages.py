"""The chart's schema and the tables of the documentation, from the table of settings.

A generated part of a page is between two marks, and is replaced.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from protocol.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from protocol.settings_model import Setting, Settings

_SCHEMA = re.compile(
    r'("settings": \{\n(?:[^\n]*\n){2} *"properties": \{\n)(.*?)(\n {6}\}\n)', re.DOTALL
)
# A table of Markdown ends at any line that is not a row, so the marks enclose all of it.
_MARKS = re.compile(
    r"(<!-- settings: ([a-z]+), from protocol/settings\.toml -->\n)(.*?)(<!-- end of settings -->)",
    re.DOTALL,
)


def with_schema(text: str, settings: Settings) -> str:
    """The chart's values.schema.json, with the settings of a GPU."""
    rows = [f'        "{one.name}": {json.dumps(_schema(one))}' for one in settings.of("gpu")]
    # The template refuses them, with the reason.
    rows += [f'        "{name}": {{}}' for name in settings.removed]
    found, count = _SCHEMA.subn(lambda match: match[1] + ",\n".join(rows) + match[3], text)
    if count != 1:
        raise TableError("values.schema.json has no settings")
    return found


def refusals(settings: Settings) -> str:
    """deploy/helm/nvshare/files/removed-settings.yaml."""
    lines = [
        "# Settings that there were once, and what to do instead of setting them.",
        "# Generated from protocol/settings.toml by `python -m protocol.generate`: do not edit.",
        *(f"{name}: {json.dumps(instead)}" for name, instead in settings.removed.items()),
    ]
    return "\n".join([*lines, ""])


def with_tables(text: str, settings: Settings) -> str:
    """A page of the documentation, with the tables between its marks."""

    def fill(match: re.Match[str]) -> str:
        found = settings.of(match[2])
        if not found:
            raise TableError(f"there are no settings of {match[2]}")
        return match[1] + "".join(f"{row}\n" for row in _rows(found)) + match[4]

    return _MARKS.sub(fill, text)


def _rows(settings: tuple[Setting, ...]) -> Iterator[str]:
    yield "| setting | default | meaning |"
    yield "|---|---|---|"
    for one in settings:
        yield f"| `{one.name}` | {_shown(one)} | {one.meaning} |"


def _shown(one: Setting) -> str:
    if isinstance(one.value, bool):
        return str(one.value).lower()
    return f"`{one.value}`" if isinstance(one.value, str) else f"{one.value:g}"


def _schema(one: Setting) -> dict[str, Any]:
    if one.choices:
        return {"enum": list(one.choices)}
    if one.kind == "seconds":
        number = {"$ref": f"#/definitions/{'positive' if one.positive else 'notNegative'}"}
        return {"anyOf": [number, {"const": one.word}]} if one.word else number
    types: dict[str, Any] = {
        "policy": "string",
        "bytes": ["string", "integer"],
        "switch": "boolean",
    }
    return {"type": types[one.kind]}
