"""Python modules, from the table of limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from protocol.limits_model import Limit

_GENERATED = "Generated from protocol/limits.toml by ``python -m protocol.generate``: do not edit."
_FIELD_TYPES = {"amount": "SomeBytes", "permission": "bool"}
_VALUE_TYPES = {"amount": "int", "number": "int", "permission": "bool", "choice": "str"}


def core_module(limits: Iterable[Limit]) -> str:
    """src/nvshare/core/limits.py."""
    limits = tuple(limits)
    lines = [
        '"""What one client may use, as the core has it.',
        "",
        _GENERATED,
        '"""',
        "",
        "from dataclasses import dataclass",
        "from enum import Enum",
    ]
    for limit in limits:
        if limit.kind == "choice":
            lines += ["", "", f"class {limit.enum}(Enum):", f'    """{_sentence(limit)}"""', ""]
            lines += [f'    {choice.upper()} = "{choice}"' for choice in limit.choices]
    lines += [
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        "class Limits:",
        '    """What one client may use. None: no limit. The interposer enforces them."""',
        "",
        *(f"    {limit.core}: {_core_type(limit)}" for limit in limits),
        "",
        "",
        "NO_LIMITS = Limits()",
        "",
    ]
    return "\n".join(lines)


def table_module(limits: Iterable[Limit]) -> str:
    """src/nvshare/limits/table.py."""
    limits = tuple(limits)
    enums = sorted(limit.enum for limit in limits if limit.enum)
    lines = [
        '"""Every limit of a program.',
        "",
        _GENERATED,
        '"""',
        "",
        *([f"from nvshare.core.limits import {', '.join(enums)}"] if enums else []),
        f"from nvshare.limits.kinds import {', '.join(sorted({*_classes(limits), 'Limit'}))}",
        "",
        "LIMITS: tuple[Limit, ...] = (",
    ]
    for limit in limits:
        lines.append(f"    {limit.kind.capitalize()}(")
        lines += [f"        {name}={value}," for name, value in _arguments(limit)]
        lines.append("    ),")
    return "\n".join([*lines, ")", ""])


def values_module(limits: Iterable[Limit]) -> str:
    """src/nvshare/limits/values.py."""
    lines = [
        '"""Limits whose values have been checked elsewhere. Imports nothing that takes long.',
        "",
        _GENERATED,
        '"""',
        "",
        "from dataclasses import dataclass",
        "",
        "",
        "@dataclass(frozen=True, kw_only=True)",
        "class LimitValues:",
        '    """None: no limit."""',
        "",
        *(f"    {limit.name}: {_VALUE_TYPES[limit.kind]} | None = None" for limit in limits),
        "",
    ]
    return "\n".join(lines)


def fields_module(limits: Iterable[Limit]) -> str:
    """src/nvshare/limits/fields.py."""
    limits = tuple(limits)
    lines = [
        '"""The fields of limits as people and files write them.',
        "",
        _GENERATED,
        '"""',
        "",
        "from typing import Annotated, Literal, TypeAlias",
        "",
        "from pydantic import Field",
        "",
        "from nvshare.setting_types import NONE, WHOLE, SettingsModel, SomeBytes",
        "",
    ]
    for limit in limits:
        if limit.kind == "choice":
            choices = ", ".join(f'"{choice}"' for choice in limit.choices)
            lines.append(f"{_type(limit)}: TypeAlias = Literal[{choices}]")
        if limit.kind == "number":
            span = f"ge={limit.least}, le={limit.most}"
            lines.append(f"{_type(limit)}: TypeAlias = Annotated[int, Field({span}), WHOLE]")
    lines += ["", "", "class LimitFields(SettingsModel):", '    """None: no limit."""', ""]
    lines += [f"    {one.name}: {_type(one)} | None = None" for one in limits]
    about = '    """Most that programs may have. None: as much as they like."""'
    lines += ["", "", "class CeilingFields(SettingsModel):", about, ""]
    lines += [f"    {one.name}: {_ceiling_type(one)}" for one in limits]
    about = '    """Those that scenarios have, under the names of their options."""'
    lines += ["", "", "class ScenarioFields(SettingsModel):", about, ""]
    lines += [f"    {one.option}: {_scenario_type(one)}" for one in limits if one.scenario]
    return "\n".join([*lines, ""])


def _sentence(limit: Limit) -> str:
    return f"{limit.meaning[0].upper()}{limit.meaning[1:]}."


def _core_type(limit: Limit) -> str:
    if limit.kind == "permission":
        return "bool = False"
    if limit.kind == "choice":
        return f"{limit.enum} = {limit.enum}.{limit.default.upper()}"
    return "int | None = None"


def _classes(limits: Iterable[Limit]) -> Iterator[str]:
    yield from (limit.kind.capitalize() for limit in limits)


def _type(limit: Limit) -> str:
    """The name of its type: PriorityName, ComputePercent."""
    if limit.kind == "choice":
        return f"{limit.enum}Name"
    if limit.kind == "number":
        return "".join(word.capitalize() for word in limit.name.split("_"))
    return _FIELD_TYPES[limit.kind]


def _ceiling_type(limit: Limit) -> str:
    if limit.kind == "permission":
        return "bool = False"
    return f"Annotated[{_type(limit)} | None, NONE] = None"


def _scenario_type(limit: Limit) -> str:
    if limit.kind == "permission":
        return "bool = False"
    if limit.kind == "choice":
        return f'{_type(limit)} = "{limit.default}"'
    return f"{_type(limit)} | None = None"


def _arguments(limit: Limit) -> Iterator[tuple[str, str]]:
    texts = {
        "name": limit.name,
        "core_name": limit.core,
        "label": limit.label,
        "option": limit.option,
        "help_run": limit.help_run,
        "help_limit": limit.help_limit,
        "metavar": limit.metavar,
        "key": limit.key,
        "prompt": limit.prompt,
        "variable": limit.variable["name"],
        "annotation": limit.annotation.get("name", ""),
        "in_scenarios": limit.scenario,
        "unit": limit.unit,
        "beyond": limit.beyond,
        "default": limit.default,
    }
    for name, text in texts.items():
        if text:
            yield name, "True" if name == "in_scenarios" else json.dumps(text, ensure_ascii=False)
    if "limits" in limit.field:
        yield "is_told", "True"
    if limit.kind == "number":
        yield "least", str(limit.least)
        yield "most", str(limit.most)
    if limit.kind == "permission":
        yield "flag", str(limit.flags[limit.name]["value"])
    if limit.kind == "choice":
        yield "choices", f"({', '.join(json.dumps(choice) for choice in limit.choices)})"
        yield "enum", limit.enum
        flags = ", ".join(f'"{name}": {flag["value"]}' for name, flag in limit.flags.items())
        yield "choice_flags", f"{{{flags}}}"
