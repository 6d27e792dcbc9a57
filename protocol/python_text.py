"""Python modules, from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from protocol.model import Field, Frame, Protocol, Values, Variable

_CODES = {"u16": "H", "u32": "I", "u64": "Q"}

_HEAD = '''\
"""Every frame between libnvshare.so and the daemon, as an object. Does no I/O.

Generated from protocol/frames.toml by ``python -m protocol.generate``: do not edit.
The rules of the protocol are in that file; bytes to frames and back is nvshare.wire.codec.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct
from typing import ClassVar, TypeAlias
'''


_LENGTHEN = '''

def _lengthen(payload: bytes | bytearray | memoryview, least: int, size: int) -> bytes:
    """Fill up what an earlier sender does not know yet."""
    if len(payload) < least:
        raise ValueError(f"only {len(payload)} bytes")
    return bytes(payload).ljust(size, b"\\0")
'''


def frames_module(protocol: Protocol) -> str:
    """src/nvshare/wire/frames.py."""
    lines = [
        _HEAD,
        f"MAGIC = 0x{protocol.magic:X}",
        f"VERSION = {protocol.version}",
        f"OLDEST_VERSION = {protocol.oldest_version}",
        f"MAX_PAYLOAD = {protocol.max_payload}",
        f"UNASKED_BYTES = {protocol.unasked_bytes}",
        "",
        *_mosts(protocol),
        "",
        'HEADER = Struct("<IHHII")',
        *_LENGTHEN.splitlines(),
    ]
    for values in protocol.values:
        lines += ["", "", *_values(values)]
    for frame in protocol.frames:
        lines += ["", "", *_class(frame)]
    lines += [
        "",
        "",
        *_union("FromClient", "client", protocol),
        *_union("FromDaemon", "daemon", protocol),
        "Frame: TypeAlias = FromClient | FromDaemon",
        "",
    ]
    return "\n".join(lines)


def places_module(protocol: Protocol) -> str:
    """src/nvshare/wire/places.py."""
    lines = [
        '"""Where programs look for the daemon. Apart from the frames, which take long to import.',
        "",
        "Generated from protocol/frames.toml by ``python -m protocol.generate``: do not edit.",
        '"""',
        "",
        f'SOCKET_NAME = "{protocol.socket_name}"',
        f'MACHINE_FOLDER = "{protocol.machine_folder}"',
        "",
    ]
    return "\n".join(lines)


def environment_module(variables: Iterable[Variable]) -> str:
    """src/nvshare/wire/environment.py."""
    lines = [
        '"""Names of the NVSHARE_* variables. Reads none itself.',
        "",
        "Generated from protocol/environment.toml by ``python -m protocol.generate``: do not edit.",
        '"""',
        "",
    ]
    names = (variable.name for variable in variables)
    lines += [f'{name.removeprefix("NVSHARE_")} = "{name}"' for name in names]
    return "\n".join([*lines, ""])


def _mosts(protocol: Protocol) -> Iterator[str]:
    for one in protocol.ranges:
        if one.most is not None:
            yield f"MOST_{one.name.upper()} = 0x{one.most:X}  # {one.meaning}"


def _values(values: Values) -> Iterator[str]:
    yield f"class {values.name}({'IntFlag' if values.is_flags else 'IntEnum'}):"
    yield f'    """{values.meaning}"""'
    yield ""
    for value in values.values:
        yield f"    {value.name} = {value.value}  # {value.meaning}"


def _class(frame: Frame) -> Iterator[str]:
    shown = [field for field in frame.fields if not field.is_reserved]
    other = "daemon" if frame.sender == "client" else "client"
    yield "@dataclass(frozen=True, slots=True)"
    yield f"class {class_name(frame)}:"
    yield f'    """{frame.meaning}'
    yield ""
    yield f"    From {frame.sender} to {other}."
    yield '    """'
    yield ""
    yield f"    TYPE: ClassVar[int] = {frame.number}"
    yield f'    LAYOUT: ClassVar[Struct] = Struct("<{"".join(map(_code, frame.fields))}")'
    yield f"    DESCRIPTOR: ClassVar[bool] = {frame.descriptor}"
    yield ""
    for field in shown:
        yield f"    {field.name}: {_annotation(field)}{_default(field)}  # {field.meaning}"
    yield ""
    yield "    def pack(self) -> bytes:"
    yield '        """The payload, with its header."""'
    head = f"HEADER.pack(MAGIC, {frame.version}, self.TYPE, {frame.size}, 0)"
    # A comma after the last item keeps a formatter from joining the lines.
    yield f"        return {head} + self.LAYOUT.pack("
    for field in shown:
        yield f"            {_packed(field)},"
    yield "        )"
    yield ""
    yield "    @classmethod"
    yield f'    def unpack(cls, payload: bytes | bytearray | memoryview) -> "{class_name(frame)}":'
    yield '        """Read the fields; there may be more bytes behind them."""'
    if frame.least_size < frame.size:
        yield f"        if len(payload) < {frame.size}:"
        yield f"            payload = _lengthen(payload, {frame.least_size}, {frame.size})"
    if all(_unpacked(field) == field.name and not _excess(field) for field in shown):
        yield "        return cls(*cls.LAYOUT.unpack_from(payload))"
        return
    if len(shown) == 1:
        yield f"        ({shown[0].name},) = cls.LAYOUT.unpack_from(payload)"
    else:
        yield "        ("
        for field in shown:
            yield f"            {field.name},"
        yield "        ) = cls.LAYOUT.unpack_from(payload)"
    excesses = [(field, text) for field in shown if (text := _excess(field))]
    for field, text in excesses:
        yield f"        if {text}:"
        yield f'            raise ValueError(f"{field.name} of {{{field.name}}}")'
    yield "        return cls("
    for field in shown:
        yield f"            {_unpacked(field)},"
    yield "        )"


def _excess(field: Field) -> str:
    """Return the condition for a number out of its range; empty if it cannot be."""
    if field.range is None or field.range.most is None:
        return ""
    widest = (1 << 8 * field.size) - 1
    beyond = f"{field.name} > MOST_{field.range.name.upper()}" if field.range.most < widest else ""
    if not field.range.least:
        return beyond
    below = f"{field.name} < {field.range.least}"
    return f"{below} or {beyond}" if beyond else below


def _union(name: str, sender: str, protocol: Protocol) -> Iterator[str]:
    members = [class_name(frame) for frame in protocol.frames if frame.sender == sender]
    line = f"{name}: TypeAlias = {' | '.join(members)}"
    if len(line) <= 100:
        yield line
        return
    yield f"{name}: TypeAlias = ("
    line = f"    {' | '.join(members)}"
    if len(line) <= 100:
        yield line
        yield ")"
        return
    yield f"    {members[0]}"
    for member in members[1:]:
        yield f"    | {member}"
    yield ")"


def class_name(frame: Frame) -> str:
    """CANCEL_HANDOVER in Python: CancelHandover."""
    return "".join(word.capitalize() for word in frame.name.split("_"))


def _code(field: Field) -> str:
    if field.is_reserved:
        return f"{field.size}x"
    return f"{field.size}s" if field.type in ("bytes", "text") else _CODES[field.type]


def _default(field: Field) -> str:
    if not field.optional:
        return ""
    return f" = {field.values.name}(0)" if field.values else " = 0"


def _annotation(field: Field) -> str:
    if field.values is not None:
        return field.values.name
    return {"bytes": "bytes", "text": "str"}.get(field.type, "int")


def _packed(field: Field) -> str:
    if field.type == "text":
        return f"self.{field.name}.encode()[:{field.size - 1}]"
    return f"self.{field.name}"


def _unpacked(field: Field) -> str:
    if field.type == "text":
        return f'{field.name}.split(b"\\0", 1)[0].decode(errors="replace")'
    if field.values is None:
        return field.name
    if not field.values.is_flags:
        return f"{field.values.name}({field.name})"
    # Unknown flags mean nothing, and Python would keep every combination of flags in memory.
    known = sum(value.value for value in field.values.values)
    return f"{field.values.name}({field.name} & 0x{known:X})"
