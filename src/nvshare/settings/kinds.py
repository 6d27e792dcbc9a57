"""What all settings have in common, whatever table they are in.

The settings are in protocol/settings.toml; ``table.py`` and ``fields.py`` are generated from it.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

from nvshare.core.policies import policy_names


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting, as far as code has to know of it that treats all settings alike."""

    name: str
    brief: str
    # The words for it, if these are all its values.
    choices: tuple[str, ...] = ()
    is_policy: bool = False
    # Whether it counts the seconds of an emulated node.
    is_paced: bool = False
    # Whether the core has it; as which enumeration, and for which value None.
    is_for_core: bool = False
    enum: type[Enum] | None = None
    nothing: Any = None

    @property
    def values(self) -> tuple[str, ...]:
        """The words for it; none if there are others."""
        return tuple(policy_names()) if self.is_policy else self.choices

    def to_core(self, value: Any) -> Any:
        """Return a value as the core has it."""
        if value == self.nothing:
            return None
        return value if self.enum is None else self.enum(value)

    def at_speed(self, value: Any, speed: float) -> Any:
        """Return a value in real seconds that was meant for an emulated node of this speed."""
        return value / speed if self.is_paced and value != "auto" else value


def _policy(value: str) -> str:
    if value not in policy_names():
        raise ValueError(f"must be one of {', '.join(policy_names())}")
    return value


PolicyName: TypeAlias = Annotated[str, BeforeValidator(_policy)]
