"""Python modules, from the table of settings."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from protocol.settings_model import Setting, Settings

_TABLE = "protocol/settings.toml"
_GENERATED = f"Generated from {_TABLE} by ``python -m protocol.generate``: do not edit."
_CLASSES = {
    "gpu": ("GpuFields", "What can be chosen for one GPU."),
    "lab": ("LabFields", "What tests and experiments choose; a constant for everybody else."),
    "node": ("NodeFields", "What can be chosen for all GPUs of a machine together."),
}


def core_module(settings: Settings) -> str:
    """src/nvshare/core/setting_fields.py."""
    lines = [
        '"""The settings of one device, as the core has them.',
        "",
        _GENERATED,
        '"""',
        "",
        "from dataclasses import dataclass",
        "from enum import Enum",
    ]
    for one in settings.of_core():
        if one.choices:
            lines += ["", "", f"class {one.enum}(Enum):", f'    """{_sentence(one.brief)}"""', ""]
            for name, meaning in one.choices.items():
                lines += [f'    {name.upper()} = "{name}"  # {meaning}']
    lines += [
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        "class SettingFields:",
        '    """All of them can change while clients run. Durations are in seconds."""',
        "",
    ]
    for one in settings.of_core():
        lines += [f"    # {_sentence(one.brief)}", f"    {one.name}: {_core_type(one)}"]
    lines += [
        "",
        "    def __post_init__(self) -> None:",
        '        """Refuse values that cannot work, naming the field."""',
        *_checks("value is not None and value <= 0", "must be more than 0", _above_0(settings)),
        *_checks("value < 0", "must not be negative", _from_0(settings)),
        "",
    ]
    return "\n".join(lines)


def fields_module(settings: Settings) -> str:
    """src/nvshare/settings/fields.py."""
    used = [one for one in settings.all if one.place != "core"]
    lines = [
        '"""Settings as people and files write them. Durations are in seconds.',
        "",
        _GENERATED,
        '"""',
        "",
        "from typing import Annotated, Literal",
        "",
        "from pydantic import Field",
        "",
        *_imports("nvshare.setting_types", {"NUMBER", "SettingsModel", *_names(used)}),
        *_imports("nvshare.settings.kinds", {"PolicyName"}),
    ]
    for place, (name, about) in _CLASSES.items():
        lines += ["", "", f"class {name}(SettingsModel):", f'    """{about}"""', ""]
        for one in settings.of(place):
            lines += [f"    # {_sentence(one.brief)}"]
            lines += [f"    {one.name}: {_type(one)} = {_text(one)}"]
    return "\n".join([*lines, ""])


def table_module(settings: Settings) -> str:
    """src/nvshare/settings/table.py."""
    enums = {one.enum for one in settings.of_core() if one.enum}
    lines = [
        '"""Every setting that there is, and what to do instead of setting one that there was.',
        "",
        _GENERATED,
        '"""',
        "",
        *_imports("nvshare.core.settings", enums),
        *_imports("nvshare.settings.kinds", {"Setting"}),
    ]
    for place in _CLASSES:
        lines += ["", f"{place.upper()}: tuple[Setting, ...] = ("]
        for one in settings.of(place):
            lines += ["    Setting("]
            lines += [f"        {name}={value}," for name, value in _arguments(one)]
            lines += ["    ),"]
        lines += [")"]
    lines += ["", "REMOVED: dict[str, str] = {"]
    for name, instead in settings.removed.items():
        lines += _entry(name, instead)
    return "\n".join([*lines, "}", ""])


def _sentence(brief: str) -> str:
    return f"{brief[0].upper()}{brief[1:]}."


def _entry(name: str, text: str) -> Iterator[str]:
    """Yield an entry of a dictionary as a formatter writes it; a long text as parts."""
    line = f'    "{name}": {json.dumps(text)},'
    if len(line) <= 100:
        yield line
        return
    yield f'    "{name}": ('
    *parts, last = wrap(text, 90)
    yield from (f"        {json.dumps(part + ' ')}" for part in parts)
    yield f"        {json.dumps(last)}"
    yield "    ),"


def _imports(module: str, names: Iterable[str]) -> Iterator[str]:
    """Yield an import as a formatter writes it."""
    listed = sorted(names, key=lambda name: (not name.isupper(), name))
    line = f"from {module} import {', '.join(listed)}"
    if len(line) <= 100:
        yield line
        return
    yield f"from {module} import ("
    yield from (f"    {name}," for name in listed)
    yield ")"


def _above_0(settings: Settings) -> list[str]:
    return [
        one.name
        for one in settings.of_core()
        if one.kind == "rate" or (one.kind == "seconds" and (one.positive or one.word))
    ]


def _from_0(settings: Settings) -> list[str]:
    above = _above_0(settings)
    seconds = (one.name for one in settings.of_core() if one.kind == "seconds")
    return [name for name in seconds if name not in above]


def _checks(wrong: str, problem: str, names: list[str]) -> Iterator[str]:
    yield "        for name in ("
    yield from (f'            "{name}",' for name in names)
    yield "        ):"
    yield "            value = getattr(self, name)"
    yield f"            if {wrong}:"
    yield f'                raise ValueError(f"{{name}} {problem}")'


def _core_type(one: Setting) -> str:
    if one.kind == "choice":
        return f"{one.enum} = {one.enum}.{one.default.upper()}"
    if one.kind == "policy":
        return f'str = "{one.default}"'
    if one.kind == "switch":
        return f"bool = {one.default}"
    if one.word:
        return f"float | None = {_number(one.default) if one.default else None}"
    return f"float = {_number(one.default)}"


def _number(value: float) -> str:
    text = f"{value:g}".replace("e+", "e")
    return text if "." in text or "e" in text else f"{text}.0"


def _names(settings: Iterable[Setting]) -> set[str]:
    """Return the types of numbers that are used."""
    return {_type(one) for one in settings if one.kind in ("seconds", "bytes") and not one.most}


def _base(one: Setting) -> str:
    if one.kind == "choice":
        return f"Literal[{', '.join(json.dumps(name) for name in one.choices or ())}]"
    if one.kind == "seconds":
        return _seconds(one)
    return {"policy": "PolicyName", "bytes": "BytesOrAuto", "switch": "bool"}[one.kind]


def _seconds(one: Setting) -> str:
    if one.word:
        return "PositiveOrAuto" if one.word == "auto" else "SecondsOrOff"
    return "Positive" if one.positive else "NotNegative"


def _type(one: Setting) -> str:
    if one.most is None:
        return _base(one)
    return f"Annotated[float, Field({'gt' if one.positive else 'ge'}=0, le={one.most:g}), NUMBER]"


def _text(one: Setting) -> str:
    """Return the default in Python."""
    if one.kind == "switch":
        return str(one.default)
    return json.dumps(one.value) if isinstance(one.value, str) else _number(one.value)


def _arguments(one: Setting) -> Iterator[tuple[str, Any]]:
    yield "name", json.dumps(one.name)
    yield "brief", json.dumps(one.brief)
    if one.choices:
        yield "choices", f"({', '.join(json.dumps(name) for name in one.choices)})"
    if one.kind == "policy":
        yield "is_policy", True
    if one.kind == "switch":
        yield "choices", '("true", "false")'
    if one.clock == "gpu":
        yield "is_paced", True
    if one.core:
        yield "is_for_core", True
    if one.core and one.enum:
        yield "enum", one.enum
    if one.core and one.word:
        yield "nothing", '"auto"' if one.word == "auto" else "0.0"
