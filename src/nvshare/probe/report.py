"""The report as a JSON file: all readings, and the lines derived from them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from nvshare.errors import BadInputError
from nvshare.probe.expectations import EXPECTATIONS
from nvshare.probe.facts import FACTS
from nvshare.probe.readings import Readings, Value
from nvshare.probe.verdict import Line, Verdict, judge

FORMAT = "nvshare-doctor-gpu 1"
# The topics of lines, in the order of the table. Names of lines and readings begin with them.
TOPICS = (
    "machine",
    "memory",
    "bus",
    "calls",
    "prefetch",
    "mapped",
    "blocks",
    "untouched",
    "faults",
    "crowded",
    "side_by_side",
    "gate",
    "capture",
)


@dataclass(frozen=True)
class Report:
    """The findings of ``nvshare doctor --gpu``. ``unfinished``: the probe in which it stopped."""

    version: str
    date: str
    emulated: bool
    speed: float
    quick: bool
    readings: Readings
    unfinished: str = ""
    lines: list[Line] = field(default_factory=list)

    def judged(self) -> "Report":
        """Return the report with the lines of facts and expectations, by topic."""
        lines = judge(self.readings, (*FACTS, *EXPECTATIONS))
        lines.sort(key=lambda line: TOPICS.index(line.name.partition(".")[0]))
        return replace(self, lines=lines)

    @property
    def bad(self) -> int:
        """How many lines are not as expected."""
        return sum(line.verdict is Verdict.BAD for line in self.lines)


def write_report(report: Report) -> str:
    """Return the text of the file."""
    lines = [{**asdict(line), "verdict": line.verdict.value} for line in report.lines]
    content = {
        "format": FORMAT,
        "nvshare": report.version,
        "date": report.date,
        "emulated": report.emulated,
        "speed": report.speed,
        "quick": report.quick,
        "unfinished": report.unfinished,
        "lines": lines,
        "readings": report.readings.values,
        "absent": report.readings.absent,
    }
    return json.dumps(content, indent=1) + "\n"


def load_report(path: Path) -> Report:
    """Read a file, and judge it again by the table of this version."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(
            f"the report {path} cannot be read", why=error.strerror, do="check the path"
        ) from error
    except ValueError as error:
        raise _no_report(path, "it is not JSON") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _no_report(path, f'its format is not "{FORMAT}"')
    try:
        return _parse(content).judged()
    except (KeyError, TypeError, ValueError) as error:
        raise _no_report(path, f"{type(error).__name__}: {error}") from error


def _parse(content: Mapping[str, Any]) -> Report:
    values: dict[str, Value] = {}
    for name, value in content["readings"].items():
        if not isinstance(value, (int, float, str, bool)):
            raise TypeError(f"{name} is neither a number nor text")
        values[name] = value
    return Report(
        version=str(content["nvshare"]),
        date=str(content["date"]),
        emulated=bool(content["emulated"]),
        speed=float(content["speed"]),
        quick=bool(content["quick"]),
        unfinished=str(content["unfinished"]),
        readings=Readings(values, {str(k): str(v) for k, v in content["absent"].items()}),
    )


def _no_report(path: Path, why: str) -> BadInputError:
    return BadInputError(
        f"{path} is not a report of `nvshare doctor --gpu`",
        why=why,
        do="make one with `nvshare doctor --gpu --output report.json`",
    )
