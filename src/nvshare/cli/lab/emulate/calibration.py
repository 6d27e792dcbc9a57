"""A profile of an emulated GPU, written from a report of a real one.

A measured value is marked with its date; any other value comes from the nearest profile and is
marked as assumed. ``nvshare.lab.emulator.profile`` defines the fields.
"""

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from nvshare.lab.emulator.profile import Profile, known_profiles, load_known
from nvshare.probe.derived import Measured, derive, why_not
from nvshare.probe.report import Report

_DIGITS = 4
_COMMENT_COLUMN = 36


def write_profile(report: Report) -> str:
    """Return the text of a profile."""
    measured = derive(report.readings)
    name, nearest = nearest_profile(measured)
    content, refused = _put_together(nearest, measured)
    lines = _heading(report, name)
    for table, fields in content.items():
        lines += ["", f"[{table}]"]
        lines += [
            _line(key, value, _origin(report, f"{table}.{key}", name, measured, refused))
            for key, value in fields.items()
        ]
        lines += [f"# {line}" for line in _unknown(table, fields, measured)]
    return "\n".join(lines) + "\n"


def nearest_profile(measured: Measured) -> tuple[str, Profile]:
    """Return the known profile that is most similar to the measurements."""
    known = [(name, load_known(name)) for name in known_profiles()]
    return min(known, key=lambda one: _distance(one[1], measured))


def _distance(profile: Profile, measured: Measured) -> tuple[bool, float, float]:
    name = measured.get("gpu.name", "")
    capability = float(measured.get("gpu.compute_capability", 0))
    memory = float(measured.get("memory.total_mib", 0))
    return (
        profile.gpu.name != name,
        abs(float(profile.gpu.compute_capability) - capability),
        abs(profile.memory.total_mib - memory),
    )


def _put_together(nearest: Profile, measured: Measured) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a valid profile, and the measured values that it cannot hold."""
    content = nearest.model_dump()
    refused: dict[str, str] = {}
    for field, value in _in_order(measured):
        table, _, key = field.partition(".")
        if key not in content.get(table, {}):
            continue
        before = content[table][key]
        content[table][key] = fitted(nearest, table, key, value)
        try:
            Profile.model_validate(content)
        except ValidationError:
            refused[field] = str(content[table][key])
            content[table][key] = before
    return content, refused


def _in_order(measured: Measured) -> "list[tuple[str, float | str]]":
    # Wholes first: a part is refused while its whole is still that of another GPU.
    wholes = ("memory.total_mib", "memory.usable_mib", "gpu.shared_kib_per_multiprocessor")
    first = [(field, measured[field]) for field in wholes if field in measured]
    return [*first, *((field, value) for field, value in measured.items())]


def fitted(profile: Profile, table: str, key: str, value: float | str) -> float | int | str:
    """Return a value of the field's type, rounded to the significant digits."""
    if isinstance(value, str):
        return value
    model: type[BaseModel] = type(getattr(profile, table))
    if model.model_fields[key].annotation is int:
        return round(value)
    # Exact values stay exact.
    return value if key.endswith("_mib") else float(f"{value:.{_DIGITS}g}")


def _heading(report: Report, name: str) -> list[str]:
    where = "an emulated GPU" if report.emulated else "a GPU"
    lines = [
        f"# Written by `nvshare emulate profile`; measured by `nvshare doctor --gpu` on {where}.",
        f"# Assumed values are those of the profile {name}; docs/emulator.md explains every field.",
    ]
    if report.quick:
        lines.append(
            "# The report was made with --quick: do it again without, before relying on it."
        )
    return lines


def _origin(
    report: Report, field: str, nearest: str, measured: Measured, refused: dict[str, str]
) -> str:
    if field in refused:
        return f"assumed, as {nearest}: {refused[field]} was measured, which no profile can have"
    if field in measured:
        driver = report.readings.values.get("machine.driver", "?")
        return f"measured by doctor on {report.date}, driver {driver}"
    why = why_not(report.readings, field)
    return f"assumed, as {nearest}" + (f": {why}" if why else "")


def _unknown(table: str, fields: dict[str, Any], measured: Measured) -> list[str]:
    """Measured values for which this version has no field, as comments."""
    extra = [field for field in measured if field.startswith(f"{table}.")]
    names = [field.partition(".")[2] for field in extra]
    return [
        f"{name} = {float(measured[f'{table}.{name}']):.{_DIGITS}g}  # measured; not a field here"
        for name in names
        if name not in fields
    ]


def _line(key: str, value: float | int | str, comment: str) -> str:
    text = json.dumps(value) if isinstance(value, bool | str) else f"{value:.10g}"
    return f"{f'{key} = {text}':<{_COMMENT_COLUMN}}# {comment}"
