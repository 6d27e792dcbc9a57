"""The settings of a node and its GPUs, and the limits of a program, as users and files write them.

This module derives from them, for both the daemon and the simulator, the settings of nvshare.core,
and how much of a GPU's memory can be shared. The command line and the control API pass them on. A
change names only the fields that change.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from nvshare.core.settings import Limits, Settings
from nvshare.limits.fields import LimitFields
from nvshare.limits.table import LIMITS
from nvshare.setting_types import AllocationName, SettingsModel
from nvshare.settings.fields import GpuFields, LabFields, NodeFields
from nvshare.settings.table import GPU, LAB, REMOVED

_MIB = 1 << 20


class LabSettings(LabFields):
    """What tests and experiments choose for one GPU; a constant for everybody else."""

    @model_validator(mode="after")
    def _ordered(self) -> "LabSettings":
        if self.turn_max < self.turn_min:
            raise ValueError("turn_max must not be less than turn_min")
        return self


class DeviceSettings(GpuFields):
    """All that can be chosen for one GPU. Durations are in seconds."""

    lab: LabSettings = LabSettings()

    @model_validator(mode="before")
    @classmethod
    def _refuse_removed(cls, values: Any) -> Any:
        for name in values if isinstance(values, Mapping) else ():
            if name in REMOVED:
                raise ValueError(f"{name} is not a setting any more: {REMOVED[name]}")
        return values

    def changed(self, changes: "dict[str, Any]") -> "DeviceSettings":
        """Return the settings with some fields changed, and everything checked again."""
        own = self.model_dump()
        lab = changes.get("lab", {})
        if isinstance(lab, Mapping):
            changes = {**changes, "lab": {**own["lab"], **lab}}
        return DeviceSettings.model_validate({**own, **changes})

    def at_speed(self, speed: float) -> "DeviceSettings":
        """Return them in real seconds, if they count those of an emulated node of this speed.

        At speed 20, a turn of 30 emulated seconds takes 1.5 real ones. Patience is not scaled: it
        allows for slow machines and for people, and those are real.
        """
        lab = {one.name: one.at_speed(getattr(self.lab, one.name), speed) for one in LAB}
        told = {one.name: one.at_speed(getattr(self, one.name), speed) for one in GPU}
        return DeviceSettings.model_validate({**told, "lab": lab})

    def for_core(self) -> Settings:
        """Return the settings of the core."""
        both = ((self, one) for one in GPU), ((self.lab, one) for one in LAB)
        return Settings(
            **{
                one.name: one.to_core(getattr(where, one.name))
                for found in both
                for where, one in found
                if one.is_for_core
            }
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
        if self.lab.context != "auto":
            return self.lab.context
        # A context was seen to take 300 to 500 MB on cards of 16 GB and more. It grows with the
        # multiprocessors, and their number with the memory. Nothing tells it in advance, so this is
        # rather too much than too little. Assumed: on a small card it is small in proportion.
        return min(256 * _MIB + memory // 256, memory // 30)


class NodeSettings(NodeFields):
    """What can be chosen for all GPUs of a machine together."""

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
