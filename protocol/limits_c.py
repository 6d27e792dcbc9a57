"""The interposer's reader of limits in C, from the table of limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from protocol.limits_model import Limit

_TYPES = {"u32": "uint32_t", "u64": "uint64_t"}


def limits_header(limits: Iterable[Limit]) -> str:
    """native/interposer/process/limits.h."""
    lines = [
        "/* The limits that a program was started with.",
        " *",
        " * Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit. */",
        "#ifndef NVSHARE_LIMITS_H",
        "#define NVSHARE_LIMITS_H",
        "",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        '#include "frames.h"',
        "",
        "struct limits {",
    ]
    members = [
        *(
            (f"{_TYPES[one.field['type']]} {one.name};", f"{one.values}; 0: none")
            for one in limits
            if one.field
        ),
        ("uint32_t flags;", "enum limit_flags"),
        ("bool is_wrong;", "one of them cannot be understood"),
    ]
    width = max(len(member) for member, _ in members)
    lines += [f"    {member:<{width}} /* {meaning} */" for member, meaning in members]
    lines += [
        "};",
        "",
        "/* Reads the environment. */",
        "void limits_read(struct limits *limits);",
        "",
        "/* Tells the daemon. */",
        "void limits_tell(const struct limits *limits, struct frame_hello *hello);",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def limits_source(limits: Iterable[Limit]) -> str:
    """native/interposer/process/limits.c."""
    limits = tuple(limits)
    lines = [
        "/* Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit. */",
        '#include "limits.h"',
        "",
        '#include "environment.h"',
        '#include "variables.h"',
        "",
    ]
    for limit in limits:
        if limit.kind == "choice":
            lines += [*_choices(limit), ""]
    lines += ["void limits_read(struct limits *limits) {", "    bool *wrong = &limits->is_wrong;"]
    lines += [f"    {line}" for limit in limits for line in _reading(limit)]
    lines += ["}", ""]
    lines.append("void limits_tell(const struct limits *limits, struct frame_hello *hello) {")
    lines += [f"    hello->{one.name} = limits->{one.name};" for one in limits if one.field]
    lines += ["    hello->limit_flags = limits->flags;", "}", ""]
    return "\n".join(lines)


def _choices(limit: Limit) -> Iterator[str]:
    rows = [
        f'{{"{choice}", {_flag(limit, choice) if choice in limit.flags else 0}}}'
        for choice in limit.choices
    ]
    yield f"static const struct variable_choice {_choices_of(limit)}[] = {{"
    yield from (f"    {row}," for row in rows)
    yield "    {NULL, 0},"
    yield "};"


def _reading(limit: Limit) -> Iterator[str]:
    name = f"ENVIRONMENT_{limit.variable['name'].removeprefix('NVSHARE_')}"
    if limit.kind == "amount":
        yield f"limits->{limit.name} = variable_amount({name}, wrong);"
    elif limit.kind == "number":
        cast = "(uint32_t)" if limit.field["type"] == "u32" else ""
        span = f"{limit.least}, {limit.most}"
        yield f"limits->{limit.name} = {cast}variable_number({name}, {span}, wrong);"
    elif limit.kind == "permission":
        yield f"limits->flags |= variable_flag({name}) ? {_flag(limit, limit.name)} : 0;"
    else:
        yield f"limits->flags |= variable_choice({name}, {_choices_of(limit)}, wrong);"


def _choices_of(limit: Limit) -> str:
    return f"choices_of_{limit.name}"


def _flag(limit: Limit, choice: str) -> str:
    return f"LIMIT_{limit.flags[choice]['name']}"
