"""C headers, from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from protocol.model import Field, Frame, Protocol, Values, Variable

_TYPES = {"u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t"}


def frames_header(protocol: Protocol) -> str:
    """native/common/frames.h."""
    lines = [
        "/* Every frame between libnvshare.so and the daemon, as it lies on the wire.",
        " *",
        " * Generated from protocol/frames.toml by `python -m protocol.generate`: do not edit.",
        " * The rules of the protocol are in that file; reading and writing is in frame.h. */",
        "#ifndef NVSHARE_FRAMES_H",
        "#define NVSHARE_FRAMES_H",
        "",
        "#include <assert.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        'static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "protocol/frames.toml");',
        "",
        *_defines(
            [
                ("FRAME_MAGIC", f"UINT32_C({protocol.magic:#x})"),
                ("FRAME_VERSION", str(protocol.version)),
                ("FRAME_OLDEST_VERSION", str(protocol.oldest_version)),
                ("FRAME_MAX_PAYLOAD", str(protocol.max_payload)),
                ("FRAME_UNASKED_BYTES", str(protocol.unasked_bytes)),
                ("FRAME_SOCKET_NAME", f'"{protocol.socket_name}"'),
                ("FRAME_MACHINE_FOLDER", f'"{protocol.machine_folder}"'),
            ]
        ),
        "",
        *_types(protocol.frames),
    ]
    for values in protocol.values:
        lines += ["", *_values(values)]
    lines += [
        "",
        "struct frame_header {",
        "    uint32_t magic;",
        "    uint16_t version;",
        "    uint16_t type;",
        "    uint32_t length; /* of the payload */",
        "    uint32_t reserved;",
        "} __attribute__((packed));",
        'static_assert(sizeof(struct frame_header) == 16, "protocol/frames.toml");',
    ]
    for frame in protocol.frames:
        lines += ["", *_struct(frame)]
    return "\n".join([*lines, "", "#endif", ""])


def checks_source(protocol: Protocol) -> str:
    """native/common/frame_check.c."""
    lines = [
        "/* Whether the fields of a frame are what protocol/frames.toml lets them be.",
        " *",
        " * Generated from that file by `python -m protocol.generate`: do not edit. */",
        "#include <errno.h>",
        "",
        '#include "frame.h"',
    ]
    for frame in protocol.frames:
        lines += ["", *_check(frame)]
    later = [(f.name, f.version) for f in protocol.frames if f.version > 1]
    shorter = [(f.name, f.least_size) for f in protocol.frames if f.least_size < f.size]
    lines += [
        "",
        *_switch("uint16_t frame_version(uint16_t type)", later, "1"),
        "",
        *_switch("size_t frame_least(uint16_t type, size_t size)", shorter, "size"),
        "",
        "int frame_check(const struct frame_view *view) {",
        "    switch (view->type) {",
        *(
            f"    case FRAME_{f.name}: return check_{f.name.lower()}(view);"
            for f in protocol.frames
        ),
        "    default: return 0;",
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines)


def environment_header(variables: Iterable[Variable]) -> str:
    """native/common/environment.h."""
    lines = [
        "/* Names and defaults of the variables that native code reads. Reads none itself.",
        " *",
        " * Generated from protocol/environment.toml by `python -m protocol.generate`.",
        " * Do not edit. */",
        "#ifndef NVSHARE_ENVIRONMENT_H",
        "#define NVSHARE_ENVIRONMENT_H",
        "",
    ]
    defines = []
    for variable in variables:
        if not {"library", "emulator"} & set(variable.readers):
            continue
        short = variable.name.removeprefix("NVSHARE_")
        defines.append((f"ENVIRONMENT_{short}", f'"{variable.name}"'))
        if variable.default:
            defines.append((f"DEFAULT_{short}", f'"{variable.default}"'))
    return "\n".join([*lines, *_defines(defines), "", "#endif", ""])


def _switch(head: str, cases: Iterable[tuple[str, int]], otherwise: str) -> Iterator[str]:
    yield f"{head} {{"
    yield "    switch (type) {"
    for name, value in cases:
        yield f"    case FRAME_{name}: return {value};"
    yield f"    default: return {otherwise};"
    yield "    }"
    yield "}"


def _check(frame: Frame) -> Iterator[str]:
    name = f"frame_{frame.name.lower()}"
    yield f"static int check_{frame.name.lower()}(const struct frame_view *view) {{"
    yield f"    struct {name} fields;"
    yield "    int result = frame_take(view, &fields, sizeof fields);"
    conditions = [text for field in frame.fields if (text := _bad(field))]
    for text in conditions:
        yield f"    if (result == 0 && {text})"
        yield "        result = -ERANGE;"
    yield "    return result;"
    yield "}"


def _bad(field: Field) -> str:
    """Return the condition for an invalid field; empty if every value is valid."""
    name = f"fields.{field.name}"
    if field.values is not None:
        if field.values.is_flags:
            return ""
        # Enumerations have no gaps; the model checks that.
        first, last = field.values.values[0].value, field.values.values[-1].value
        return f"({name} < {first} || {name} > {last})"
    if field.range is None or field.range.most is None:
        return ""
    widest = (1 << 8 * field.size) - 1
    parts = [f"{name} < {field.range.least}"] if field.range.least else []
    if field.range.most < widest:
        parts.append(f"{name} > UINT64_C({field.range.most:#x})")
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})" if parts else ""


def _defines(pairs: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        yield f"#define {name:<{width}} {value}"


def _types(frames: Iterable[Frame]) -> Iterator[str]:
    yield "enum frame_type {"
    for frame in frames:
        yield f"    FRAME_{frame.name} = {frame.number},"
    yield "};"


def _values(values: Values) -> Iterator[str]:
    prefix = _snake(values.name.removesuffix("Flags") if values.is_flags else values.name).upper()
    yield f"/* {values.meaning} */"
    yield f"enum {_snake(values.name)} {{"
    names = [f"    {prefix}_{value.name} = {value.value}," for value in values.values]
    width = max(len(name) for name in names)
    for name, value in zip(names, values.values, strict=True):
        yield f"{name:<{width}} /* {value.meaning} */"
    yield "};"


def _struct(frame: Frame) -> Iterator[str]:
    name = f"frame_{frame.name.lower()}"
    other = "daemon" if frame.sender == "client" else "client"
    carries = " Carries a descriptor." if frame.descriptor else ""
    yield f"/* From {frame.sender} to {other}.{carries}"
    yield f" * {frame.meaning} */"
    yield f"struct {name} {{"
    members = [f"    {_member(field)};" for field in frame.fields]
    width = max(len(member) for member in members)
    for member, field in zip(members, frame.fields, strict=True):
        yield f"{member:<{width}} /* {_meaning(field)} */"
    yield "} __attribute__((packed));"
    yield f'static_assert(sizeof(struct {name}) == {frame.size}, "protocol/frames.toml");'


def _member(field: Field) -> str:
    if field.type == "bytes":
        return f"uint8_t {field.name}[{field.size}]"
    if field.type == "text":
        return f"char {field.name}[{field.size}]"
    return f"{_TYPES[field.type]} {field.name}"


def _meaning(field: Field) -> str:
    if field.values is None:
        return field.meaning
    return f"enum {_snake(field.values.name)}: {field.meaning}"


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
