"""Reads the output of benchmarks: JSON lines. Skips comments and blank lines."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nvshare.errors import BadInputError

Line = dict[str, Any]


def read(path: Path) -> list[Line]:
    """Return the lines of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read",
            why=str(error.strerror),
            do="name a file that `nvshare bench … --json` has written",
        ) from error
    return parse(text.splitlines(), str(path))


def parse(lines: Iterable[str], where: str) -> list[Line]:
    """Return the objects; fail at any line that is not one."""
    found = []
    for number, text in enumerate(lines, 1):
        if not text.strip() or text.startswith("#"):
            continue
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise BadInputError(
                f"line {number} of {where} is not a result of a benchmark",
                why="every line must be a JSON object",
                do="write the file with `nvshare bench all --json > results.jsonl`",
            )
        found.append(line)
    return found


def of_bench(lines: Iterable[Line], bench: str) -> list[Line]:
    """Return the lines of one benchmark. Lines of a single scenario do not name their benchmark."""
    return [line for line in lines if _bench(line) == bench]


def _bench(line: Line) -> str | None:
    return "scenario" if "scenario" in line and "bench" not in line else line.get("bench")
