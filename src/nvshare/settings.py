"""The settings of a node and its GPUs, and the limits of a program, as users and files write them.

This module derives from them, for both the daemon and the simulator, the settings of nvshare.core,
and how much of a GPU's memory can be shared. The command line and the control API pass them on. A
change names only the fields that change.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from nvshare.core.policies import policy_names
from nvshare.core.settings import Interactive, Limits, Mode, Settings
from nvshare.limits.fields import LimitFields
from nvshare.limits.table import LIMITS
from nvshare.setting_types import (
    NUMBER,
    AllocationName,
    BytesOrAuto,
    NotNegative,
    Positive,
    PositiveOrAuto,
    SecondsOrOff,
    SettingsModel,
)

_CORE = Settings()
_MIB = 1 << 20


def _policy(value: str) -> str:
    if value not in policy_names():
        raise ValueError(f"must be one of {', '.join(policy_names())}")
    return value


PolicyName: TypeAlias = Annotated[str, BeforeValidator(_policy)]


class DeviceSettings(SettingsModel):
    """All that can be chosen for one GPU. Durations are in seconds."""

    mode: Literal["auto", "serial", "concurrent", "off"] = "auto"
    policy: PolicyName = _CORE.policy
    turn_seconds: PositiveOrAuto = "auto"
    turn_min: Positive = _CORE.turn_min
    turn_max: Positive = _CORE.turn_max
    batch_turn: Positive = _CORE.batch_turn
    # How promptly programs that compute in bursts are served, at the cost of the others.
    interactive: Literal["prompt", "balanced", "throughput"] = _CORE.interactive.value
    slice_seconds: NotNegative = _CORE.slice_seconds
    share_slice_seconds: Positive = _CORE.share_slice_seconds
    idle_grace: NotNegative = _CORE.idle_grace
    # How long a program may be idle before all of its memory leaves the GPU.
    idle_park: SecondsOrOff = _CORE.idle_park or 0.0
    revoke_patience: NotNegative = _CORE.revoke_patience
    inflight: Annotated[float, Field(gt=0, le=10), NUMBER] = 0.02
    reserve: BytesOrAuto = "auto"
    context: BytesOrAuto = "auto"
    # The allocation kind of programs that do not choose one themselves.
    allocation: AllocationName = "managed"
    # Whether one program alone may allocate more than the GPU has.
    oversubscribe: bool = False
    # A program that has waited this long for its turn says so once, on its standard error.
    wait_notice: SecondsOrOff = 5.0
    # Whether a group's memory beyond a lowered limit is moved to the host.
    swap_excess: bool = _CORE.swap_excess
    # Whether programs that use several GPUs have their turns on all of them together.
    gangs: bool = _CORE.gangs

    @model_validator(mode="after")
    def _ordered(self) -> "DeviceSettings":
        if self.turn_max < self.turn_min:
            raise ValueError("turn_max must not be less than turn_min")
        return self

    def changed(self, changes: "dict[str, Any]") -> "DeviceSettings":
        """Return the settings with some fields changed, and everything checked again."""
        return DeviceSettings.model_validate({**self.model_dump(), **changes})

    def for_core(self) -> Settings:
        """Return the settings of the core."""
        return Settings(
            mode=Mode(self.mode),
            policy=self.policy,
            turn_seconds=None if self.turn_seconds == "auto" else self.turn_seconds,
            turn_min=self.turn_min,
            turn_max=self.turn_max,
            batch_turn=self.batch_turn,
            interactive=Interactive(self.interactive),
            slice_seconds=self.slice_seconds,
            share_slice_seconds=self.share_slice_seconds,
            idle_grace=self.idle_grace,
            idle_park=self.idle_park or None,
            revoke_patience=self.revoke_patience,
            swap_excess=self.swap_excess,
            gangs=self.gangs,
        )

    def usable_of(self, memory: int) -> int:
        """Return how much programs may use of a GPU of this size, contexts included.

        ``memory`` is the total that programs can allocate, as cuMemGetInfo gives it.
        """
        # Assumed: what driver and fragmentation take beyond what is reported stays below this.
        reserve = memory // 64 if self.reserve == "auto" else self.reserve
        return max(0, memory - reserve)

    def context_of(self, memory: int) -> int:
        """Return the size of one program's context on a GPU of this size."""
        if self.context != "auto":
            return self.context
        # A context was seen to take 300 to 500 MB on cards of 16 GB and more. It grows with the
        # multiprocessors, and their number with the memory. Nothing tells it in advance, so this is
        # rather too much than too little. Assumed: on a small card it is small in proportion.
        return min(256 * _MIB + memory // 256, memory // 30)


class NodeSettings(SettingsModel):
    """What can be chosen for all GPUs of a machine together."""

    # The most that may be moved from all GPUs to the host; "auto": a share of the memory that was
    # free when the daemon started.
    host_memory: BytesOrAuto = "auto"

    def changed(self, changes: "dict[str, Any]") -> "NodeSettings":
        """Return the settings with some fields changed, and everything checked again."""
        return NodeSettings.model_validate({**self.model_dump(), **changes})


class PeerSettings(SettingsModel):
    """How much of the daemon a process and a tenant may take; no honest program comes near it."""

    # Connections of one process: it has one for each GPU.
    process_connections: int = Field(default=1024, gt=0)
    # The part of a CPU core that the daemon spends on a process, and on a whole container or user,
    # in the long run; and the seconds that a process may use at once, a tenant twice as many.
    process_percent: float = Field(default=10.0, gt=0, le=100)
    tenant_percent: float = Field(default=15.0, gt=0, le=100)
    burst: float = Field(default=4.0, gt=0)


class ClientLimits(LimitFields):
    """What the processes of a group may use of each GPU together. None: no limit.

    Which limits there are says protocol/limits.toml.
    """

    def changed(self, changes: "dict[str, Any]") -> "ClientLimits":
        """Return the limits with some fields changed, and everything checked again."""
        return ClientLimits.model_validate({**self.model_dump(), **changes})

    def normalized(self) -> "ClientLimits":
        """Return the limits without those that are the default."""
        return self.changed({one.name: one.normalized(getattr(self, one.name)) for one in LIMITS})

    def in_words(self) -> str:
        """Return the limits for a line of the log."""
        words = (one.in_log(getattr(self, one.name)) for one in LIMITS)
        return ",".join(filter(None, words)) or "none"

    def for_core(self) -> Limits:
        """Return the limits of the core."""
        return Limits(**{one.core_name: one.to_core(getattr(self, one.name)) for one in LIMITS})

    @classmethod
    def from_core(cls, limits: Limits) -> "ClientLimits":
        """Return limits of the core as users see them."""
        return cls(**{one.name: one.from_core(getattr(limits, one.core_name)) for one in LIMITS})


class Orders(ClientLimits):
    """What the operator of a cluster asks of the programs in a container. None: nothing."""

    # How their memory is allocated, for processes that begin to use the GPU from now on.
    allocation: AllocationName | None = None

    def over(self, limits: ClientLimits) -> ClientLimits:
        """Return the limits of a program that had these before."""
        asked = {one.name: getattr(self, one.name) for one in LIMITS}
        return limits.changed({name: value for name, value in asked.items() if value is not None})


NO_ORDERS = Orders()
