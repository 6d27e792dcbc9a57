"""Every number of every frame at the edges of its range: what to send, and what to expect."""

from collections.abc import Iterator
from dataclasses import dataclass

from nvshare.wire.frames import HEADER, MAGIC, VERSION
from protocol.model import WIDTHS, Field, Frame, read_protocol

PROTOCOL = read_protocol()
EDGES = (0, 1, 2**31, 2**52, 2**63, 2**64 - 1)


@dataclass(frozen=True)
class Case:
    """One frame, with one field at an edge, and valid values in all others."""

    frame: Frame
    field: Field
    value: int

    @property
    def is_good(self) -> bool:
        """Whether the table allows the value."""
        return is_good(self.field, self.value)

    @property
    def payload(self) -> bytes:
        """Its fields, as bytes."""
        return payload(self.frame, {self.field.name: self.value})

    @property
    def bytes(self) -> bytes:
        """The whole frame."""
        return HEADER.pack(MAGIC, VERSION, self.frame.number, self.frame.size, 0) + self.payload


def is_good(field: Field, value: int) -> bool:
    """Whether the table allows a value for a field."""
    if field.values is not None:
        return field.values.is_flags or value in {one.value for one in field.values.values}
    if field.range is None or field.range.most is None:
        return True
    return field.range.least <= value <= field.range.most


def payload(frame: Frame, chosen: dict[str, int]) -> bytes:
    """The fields of a frame: the chosen values, and the least valid value for all others."""
    parts = []
    for field in frame.fields:
        if field.type not in WIDTHS:
            parts.append(bytes(field.size))
            continue
        value = chosen.get(field.name, 0 if is_good(field, 0) else 1)
        parts.append(value.to_bytes(field.size, "little"))
    return b"".join(parts)


def cases(sender: str) -> Iterator[Case]:
    """Return all cases."""
    for frame in PROTOCOL.frames:
        for field in frame.fields if frame.sender == sender else ():
            if field.type not in WIDTHS or field.is_reserved:
                continue
            for value in sorted({*EDGES, *ends_of(field)}):
                if value < 1 << 8 * field.size:
                    yield Case(frame, field, value)


def ends_of(field: Field) -> tuple[int, ...]:
    """Return both ends of a field's range, and the values just beyond."""
    if field.range is None or field.range.most is None:
        return ()
    return (field.range.least, field.range.most, field.range.most + 1)
