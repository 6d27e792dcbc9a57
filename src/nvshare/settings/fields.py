"""Settings as people and files write them. Durations are in seconds.

Generated from protocol/settings.toml by ``python -m protocol.generate``: do not edit.
"""

from typing import Annotated, Literal

from pydantic import Field

from nvshare.setting_types import (
    NUMBER,
    BytesOrAuto,
    NotNegative,
    Positive,
    PositiveOrAuto,
    SecondsOrOff,
    SettingsModel,
)
from nvshare.settings.kinds import PolicyName


class GpuFields(SettingsModel):
    """What can be chosen for one GPU."""

    # How the programs of a GPU share it.
    mode: Literal["auto", "serial", "concurrent", "off"] = "auto"
    # In which order programs have their turns that compute all the time.
    policy: PolicyName = "fair"
    # The length of a turn while others wait.
    turn_seconds: PositiveOrAuto = "auto"
    # How promptly programs that compute in bursts are served.
    interactive: Literal["prompt", "balanced", "throughput"] = "balanced"
    # After how many idle seconds all memory of a program leaves the GPU.
    idle_park: SecondsOrOff = 0.0
    # How long a program may take to give way before others go on without it.
    revoke_patience: NotNegative = 30.0
    # A program that waits for so long says so.
    wait_notice: SecondsOrOff = 5.0
    # Memory that programs are not to fill.
    reserve: BytesOrAuto = "auto"
    # How memory is allocated if the program does not say it.
    allocation: Literal["managed", "explicit", "native", "auto"] = "managed"
    # Whether programs that use several GPUs have their turns on all of them together.
    gangs: bool = True
    # Whether memory beyond a lowered limit is moved to the host.
    swap_excess: bool = False
    # Whether one program alone may allocate more than the GPU has.
    oversubscribe: bool = False


class LabFields(SettingsModel):
    """What tests and experiments choose; a constant for everybody else."""

    # The shortest turn of automatic length.
    turn_min: Positive = 30.0
    # The longest turn of automatic length.
    turn_max: Positive = 300.0
    # The longest turn with the policy batch.
    batch_turn: Positive = 3600.0
    # Turns of programs that fit together and compute all the time; 0: none.
    slice_seconds: NotNegative = 1.0
    # The same where a program has a share of compute.
    share_slice_seconds: Positive = 0.05
    # How long a program that is asked to give way rests before it does.
    idle_grace: NotNegative = 0.05
    # Most work that a program has in flight.
    inflight: Annotated[float, Field(gt=0, le=10), NUMBER] = 0.02
    # What a program holds beside the memory that it allocates.
    context: BytesOrAuto = "auto"


class NodeFields(SettingsModel):
    """What can be chosen for all GPUs of a machine together."""

    # Most host memory for memory that leaves the GPUs.
    host_memory: BytesOrAuto = "auto"
