"""The C header, the Python module and the table: all three agree on every byte."""

import subprocess
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from struct import Struct

from nvshare.wire import frames
from protocol.model import read_protocol
from protocol.python_text import class_name

PROTOCOL = read_protocol()


def offsets_program() -> str:
    lines = ["#include <stdio.h>", '#include "frames.h"', "int main(void) {"]
    for frame in PROTOCOL.frames:
        name = f"frame_{frame.name.lower()}"
        size = f"sizeof(struct {name})"
        lines.append(f'    printf("{frame.name} %d %zu\\n", FRAME_{frame.name}, {size});')
        for field in frame.fields:
            at = f"offsetof(struct {name}, {field.name})"
            size = f"sizeof(((struct {name} *)0)->{field.name})"
            lines.append(f'    printf("{frame.name}.{field.name} %zu %zu\\n", {at}, {size});')
    return "\n".join([*lines, "    return 0;", "}", ""])


def test_c_has_the_offsets_of_the_table(
    build_common: Callable[[Path], Path], tmp_path: Path
) -> None:
    source = tmp_path / "offsets.c"
    source.write_text(offsets_program())
    printed = subprocess.run([build_common(source)], check=True, capture_output=True, text=True)

    expected = []
    for frame in PROTOCOL.frames:
        expected.append(f"{frame.name} {frame.number} {frame.size}")
        expected += [f"{frame.name}.{f.name} {f.offset} {f.size}" for f in frame.fields]
    assert printed.stdout.splitlines() == expected


def test_every_field_lies_where_the_table_says() -> None:
    for frame in PROTOCOL.frames:
        cls = getattr(frames, class_name(frame))
        assert (cls.TYPE, cls.LAYOUT.size) == (frame.number, frame.size)
        shown = [field for field in frame.fields if not field.is_reserved]
        assert [field.name for field in fields(cls)] == [field.name for field in shown]
        for at, field in enumerate(shown):
            one_byte = [b"" if f.type in ("bytes", "text") else 0 for f in shown]
            one_byte[at] = b"\1" if field.type in ("bytes", "text") else 1
            packed = cls.LAYOUT.pack(*one_byte)
            assert packed.index(1) == field.offset


def test_the_header_has_sixteen_bytes() -> None:
    assert isinstance(frames.HEADER, Struct)
    assert frames.HEADER.size == 16
    assert frames.HEADER.pack(frames.MAGIC, 1, 2, 3, 0)[:4] == b"NVSH"
