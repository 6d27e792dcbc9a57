"""Amounts of memory in words, as Kubernetes writes them: "4Gi", "1500Mi", "2G", "1.5Gi", "1024".

The same rules as native/common/quantity.c; a test compares the two.
"""

import re
from fractions import Fraction

from nvshare.errors import BadInputError

_FACTORS = {
    "": 1,
    **{suffix: 1000**power for power, suffix in enumerate("kMGTP", 1)},
    **{f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTP", 1)},
}
# Nine decimal places are more than any user writes.
_QUANTITY = re.compile(r"(?P<number>[0-9]+\.?[0-9]{0,9}|\.[0-9]{1,9})(?P<suffix>[A-Za-z]*)")
_MOST = 2**64 - 1
# More digits before the point are too much in any unit, and Python does not parse thousands.
_MOST_DIGITS = len(str(_MOST))


def parse_quantity(text: str) -> int:
    """Return the bytes; a fraction of a byte counts as a whole one."""
    match = _QUANTITY.fullmatch(text)
    factor = _FACTORS.get(match["suffix"]) if match else None
    if match is None or factor is None:
        raise BadInputError(
            f'"{_shown(text)}" is not an amount of memory',
            why=_hint(text),
            do='write a number of bytes, or one with a unit: "4Gi", "1500Mi", "2G"',
        )
    whole, _, part = match["number"].partition(".")
    whole = whole.lstrip("0") or "0"
    is_readable = len(whole) <= _MOST_DIGITS
    size = -(-Fraction(f"{whole}.{part or 0}") * factor // 1) if is_readable else _MOST + 1
    if size > _MOST:
        raise BadInputError(
            f'"{_shown(text)}" is too much memory',
            why=f"the most is {_MOST} bytes",
            do="write a smaller amount",
        )
    return int(size)


def format_quantity(size: int) -> str:
    """Return bytes in the shortest exact form; ``parse_quantity`` reads it back."""
    for suffix in ("Pi", "Ti", "Gi", "Mi", "Ki"):
        if size and size % _FACTORS[suffix] == 0:
            return f"{size // _FACTORS[suffix]}{suffix}"
    return str(size)


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"


def _hint(text: str) -> str | None:
    match = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]+)", text.strip())
    if match is None:
        return None
    number, suffix = match.groups()
    if suffix in _FACTORS:
        return f'number and unit are written together: "{number}{suffix}"'
    meant = {known.lower(): known for known in _FACTORS if known}
    near = meant.get(suffix.lower().removesuffix("b"))
    return f'the unit "{suffix}" does not exist; "{number}{near}" does' if near else None
