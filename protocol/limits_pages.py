"""The web page's form, the chart's schema and rows of the documentation, from the table of limits.

A generated part of a file is between two marks, and is replaced.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from protocol.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from protocol.limits_model import Limit

_KINDS = {"amount": "text", "number": "number", "permission": "check", "choice": "select"}
# The properties of a ceiling: the limits, and allocation as the only one that is not a limit.
_SCHEMA = re.compile(
    r'("ceiling": \{\n(?:.*\n){2} *"properties": \{\n)(.*?)( *"allocation": )', re.DOTALL
)


def page_script(limits: Iterable[Limit]) -> str:
    """src/nvshare/web/page/limit_table.js."""
    lines = [
        "// Every limit of a program, for the form in which it is changed.",
        "// Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit.",
        "export const LIMITS = [",
    ]
    for limit in limits:
        pairs = ", ".join(
            f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in _row(limit)
        )
        lines.append(f"  {{ {pairs} }},")
    return "\n".join([*lines, "];", ""])


def with_schema(text: str, limits: Iterable[Limit]) -> str:
    """The chart's values.schema.json, with the limits that a ceiling can have."""
    rows = "".join(f'        "{one.name}": {json.dumps(_schema(one))},\n' for one in limits)
    found, count = _SCHEMA.subn(lambda match: match[1] + rows + match[3], text)
    if count != 1:
        raise TableError("values.schema.json has no ceiling with an allocation")
    return found


def with_rows(text: str, limits: Sequence[Limit]) -> str:
    """A page of the documentation, with the rows between its marks."""

    def fill(match: re.Match[str]) -> str:
        if match[2] not in ROWS:
            raise TableError(f"there are no rows called {match[2]}")
        rows = "".join(f"{row}\n" for row in ROWS[match[2]](limits))
        return match[1] + rows + "".join(_KEPT.findall(match[3])) + match[4]

    return _MARKS.sub(fill, text)


# A table of Markdown ends at any line that is not a row, so the marks enclose all of it.
_MARKS = re.compile(
    r"(<!-- (limits: [a-z ]+), from protocol/limits\.toml -->\n)(.*?)(<!-- end of limits -->)",
    re.DOTALL,
)
# Rows about allocation, which is not a limit but is set in the same ways, stay at the end.
_KEPT = re.compile(r"^\| `(?:nvshare\.com/gpu-)?allocation` .*\n", re.M)


def _places(limits: Sequence[Limit]) -> Iterator[str]:
    yield "| limit | `nvshare run`, `nvshare limit` | environment | annotation of a pod | JSON |"
    yield "|---|---|---|---|---|"
    for one in limits:
        annotation = f"`nvshare.com/{one.annotation['name']}`" if one.annotation else "none"
        yield (
            f"| {one.meaning} | `--{one.option}` | `{one.variable['name']}` | {annotation} "
            f"| `{one.name}` |"
        )


def _annotations(limits: Sequence[Limit]) -> Iterator[str]:
    yield "| annotation of a pod | value | meaning |"
    yield "|---|---|---|"
    for one in limits:
        if one.annotation:
            yield (
                f"| `nvshare.com/{one.annotation['name']}` | {one.annotation['values']} "
                f"| {one.annotation['meaning']} |"
            )


def _ceilings(limits: Sequence[Limit]) -> Iterator[str]:
    yield "| field | meaning |"
    yield "|---|---|"
    yield from (f"| `{one.name}` | {one.ceiling} |" for one in limits if one.ceiling)


def _scenarios(limits: Sequence[Limit]) -> Iterator[str]:
    yield "| limit of a program | default | meaning |"
    yield "|---|---|---|"
    for one in limits:
        default = {"permission": "false", "choice": f'`"{one.default}"`'}.get(one.kind, "none")
        if one.scenario:
            yield f"| `{one.option}` | {default} | {one.scenario} |"


def _json(limits: Sequence[Limit]) -> Iterator[str]:
    yield "| field of `limits` | what it is; `null`: none |"
    yield "|---|---|"
    yield from (f"| `{one.name}` | {one.meaning} |" for one in limits)


ROWS: dict[str, Callable[[Sequence[Limit]], Iterator[str]]] = {
    "limits: all": _places,
    "limits: annotations": _annotations,
    "limits: ceilings": _ceilings,
    "limits: scenarios": _scenarios,
    "limits: json": _json,
}


def _row(limit: Limit) -> Iterator[tuple[str, Any]]:
    yield "name", limit.name
    yield "option", limit.option
    yield "id", f"limit-{limit.option}"
    yield "kind", _KINDS[limit.kind]
    yield "title", limit.page["title"]
    if "hint" in limit.page:
        yield "hint", limit.page["hint"]
    if limit.unit:
        yield "unit", limit.unit
    if limit.kind == "amount":
        yield "isAmount", True
    if limit.choices:
        yield "choices", limit.choices
        yield "normal", limit.default


def _schema(limit: Limit) -> dict[str, Any]:
    if limit.kind == "amount":
        return {"type": ["string", "integer"]}
    if limit.kind == "number":
        number = {"type": "integer", "minimum": limit.least, "maximum": limit.most}
        return {"anyOf": [number, {"const": "none"}]}
    if limit.kind == "permission":
        return {"type": "boolean"}
    return {"enum": [*limit.choices, "none"]}
