"""The finding of a cause."""

from dataclasses import dataclass, field
from typing import TypeAlias

Number: TypeAlias = int | float | str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a program is as fast as it is.

    ``weight`` is the part of its last minute that it has cost; the heaviest is the main cause.
    ``says`` and ``helps`` are sentences; ``helps`` may be empty.
    """

    cause: str
    weight: float
    says: str
    helps: str = ""
    numbers: dict[str, Number] = field(default_factory=dict)
