"""Documentation, from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from protocol.model import Variable

_HEAD = """\
# Environment variables

<!-- Generated from protocol/environment.toml by `python -m protocol.generate`: do not edit. -->

A variable that is set to nothing counts as not set. A `quantity` is a number of bytes, or one with
`k`, `M`, `G`, `T` (thousands) or `Ki`, `Mi`, `Gi`, `Ti` (1024s) behind it. The library is
`libnvshare.so`, inside a program; `cli` are the commands other than `nvshare daemon`.

| variable | type | default | read by | meaning |
|---|---|---|---|---|
"""


def environment_page(variables: Iterable[Variable]) -> str:
    """docs/environment.md."""
    rows = []
    for variable in variables:
        kind = ", ".join(f"`{c}`" for c in variable.choices) or variable.type
        default = f"`{variable.default}`" if variable.default else ""
        rows.append(
            f"| `{variable.name}` | {kind} | {default} "
            f"| {', '.join(variable.readers)} | {variable.meaning} |\n"
        )
    return _HEAD + "".join(rows)
