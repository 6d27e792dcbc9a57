"""Records the current frames, byte for byte, so that later versions are tested with them.

    python -m tools.record_frames 0.1.0    # before that is released

Each frame is there once, with values that are all different. tests/unit/wire/test_predecessors.py
reads the files.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any, get_args

from nvshare.wire import frames
from protocol.model import read_protocol

# The largest value of a field, by its name.
_MOST = {
    field.name: field.range.most
    for frame in read_protocol().frames
    for field in frame.fields
    if field.range is not None and field.range.most is not None
}
FOLDER = Path(__file__).parents[1] / "tests" / "unit" / "wire" / "predecessors"


def record() -> dict[str, Any]:
    """Return all frames, by their names."""
    return {
        cls.__name__: _frame(cls, sender)
        for sender, union in (("client", frames.FromClient), ("daemon", frames.FromDaemon))
        for cls in get_args(union)
    }


def _frame(cls: Any, sender: str) -> dict[str, Any]:
    values = dict(_samples(cls))
    return {
        "from": sender,
        "descriptor": cls.DESCRIPTOR,
        "layout": cls.LAYOUT.format,
        "values": {name: _plain(value) for name, value in values.items()},
        "bytes": cls(**values).pack().hex(),
    }


def _samples(cls: Any) -> Iterator[tuple[str, Any]]:
    codes = [code for code in _codes(cls.LAYOUT.format) if not code.endswith("x")]
    for number, (field, code) in enumerate(zip(fields(cls), codes, strict=True), 2):
        kind: Any = field.type
        if kind is bytes:
            yield field.name, bytes(range(number, number + int(code[:-1])))
        elif kind is str:
            yield field.name, f"words {number}"
        elif kind is int:
            yield field.name, min(number, _MOST.get(field.name, number))
        else:
            yield field.name, next(iter(kind))


def _codes(layout: str) -> Iterator[str]:
    count = ""
    for character in layout.lstrip("<"):
        count += character
        if not character.isdigit():
            # "2Q" is two fields, "16s" is one.
            repeated = int(count[:-1] or 1) if character in "HIQ" else 1
            yield from [count if character in "sx" else character] * repeated
            count = ""


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, IntEnum | IntFlag) else value


if __name__ == "__main__":
    target = FOLDER / f"{sys.argv[1]}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(record(), indent=1) + "\n")
    print(target)
