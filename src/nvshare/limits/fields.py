"""The fields of limits as people and files write them.

Generated from protocol/limits.toml by ``python -m protocol.generate``: do not edit.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from nvshare.setting_types import NONE, WHOLE, SettingsModel, SomeBytes

ComputePercent: TypeAlias = Annotated[int, Field(ge=1, le=100), WHOLE]
PriorityName: TypeAlias = Literal["high", "normal", "low"]


class LimitFields(SettingsModel):
    """None: no limit."""

    memory_limit: SomeBytes | None = None
    compute_percent: ComputePercent | None = None
    burst: bool | None = None
    priority: PriorityName | None = None


class CeilingFields(SettingsModel):
    """Most that programs may have. None: as much as they like."""

    memory_limit: Annotated[SomeBytes | None, NONE] = None
    compute_percent: Annotated[ComputePercent | None, NONE] = None
    burst: bool = False
    priority: Annotated[PriorityName | None, NONE] = None


class ScenarioFields(SettingsModel):
    """Those that scenarios have, under the names of their options."""

    compute: ComputePercent | None = None
    burst: bool = False
    priority: PriorityName = "normal"
