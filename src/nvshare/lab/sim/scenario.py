"""Scenarios: the schema of a scenario file, and the loading of one.

A scenario describes the GPUs, how they are shared, and the programs with their arrival times. It
says nothing about the outcome. docs/simulator.md describes every field.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nvshare.core.policies import policy_names
from nvshare.core.settings import Limits
from nvshare.errors import BadInputError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.profile import Profile
from nvshare.limits.fields import ScenarioFields
from nvshare.limits.table import LIMITS
from nvshare.parsing import ParseError, parse_toml
from nvshare.setting_types import Bytes
from nvshare.settings import ClientLimits, DeviceSettings
from nvshare.validation import describe

Seconds: TypeAlias = Annotated[float, Field(ge=0, le=1e9)]
Count: TypeAlias = Annotated[int, Field(gt=0, le=1_000_000_000)]
WorkloadName: TypeAlias = Literal["pytorch-add", "pytorch-add-small", "pytorch-add-idle-small"]

MODES = ("auto", "serial", "concurrent", "off")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Phase(_Table):
    """A part of a program's life. Its steps happen in the order of the fields."""

    wait: Seconds = 0.0
    memory: Bytes | None = None
    copy_in: Bytes = 0
    iterations: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    # Kernels in one iteration; each of them touches ``touch`` and takes ``kernel_seconds``.
    kernels: Count = 1
    # None: all the memory the program has.
    touch: Bytes | None = None
    # None: as long as the GPU needs for the touched bytes.
    kernel_seconds: Annotated[float, Field(gt=0)] | None = None
    sync: bool = False
    idle: Seconds = 0.0
    # Up to so much longer, each time anew.
    idle_jitter: Seconds = 0.0
    # Iterations are requests that come at random, so many a second on average, even while the
    # program is busy. None: when it is ready for the next one.
    rate: Annotated[float, Field(gt=0, le=1e6)] | None = None

    @property
    def synchronises(self) -> bool:
        """Whether the program waits for each iteration before it goes on."""
        return self.sync or self.idle > 0 or self.idle_jitter > 0 or self.rate is not None

    @model_validator(mode="after")
    def _rests_or_is_asked(self) -> "Phase":
        if self.rate is not None and (self.idle or self.idle_jitter):
            raise ValueError("rate and idle both say when iterations begin; give only one of them")
        return self


class Program(ScenarioFields):
    """One program, or ``count`` of the same kind."""

    name: str = Field(min_length=1, max_length=60)
    count: Count = 1
    gpu: Annotated[int, Field(ge=0)] | Literal["least loaded"] = "least loaded"
    # It has a process on each of these GPUs, and all of them meet in every iteration.
    ranks: tuple[Annotated[int, Field(ge=0)], ...] = ()
    arrival: Seconds = 0.0
    every: Seconds = 0.0
    jitter: Seconds = 0.0
    startup: Seconds = 0.0
    workload: WorkloadName | None = None
    iterations: Count | None = None
    phase: tuple[Phase, ...] = ()
    repeat: Count = 1

    def limits(self) -> Limits:
        """Return its limits."""
        chosen = {one.name: getattr(self, one.option) for one in LIMITS if one.in_scenarios}
        return ClientLimits(**chosen).for_core()

    @model_validator(mode="after")
    def _has_ranks_on_several_gpus(self) -> "Program":
        if self.ranks and (len(self.ranks) < 2 or len(set(self.ranks)) < len(self.ranks)):
            raise ValueError("ranks must be the numbers of two or more different GPUs")
        if self.ranks and self.gpu != "least loaded":
            raise ValueError(
                "ranks and gpu both say on which GPUs the program runs; give only one of them"
            )
        return self

    @model_validator(mode="after")
    def _has_something_to_do(self) -> "Program":
        if (self.workload is None) == (not self.phase):
            raise ValueError("must have either a workload or phases")
        if self.iterations is not None and self.workload is None:
            raise ValueError("iterations must belong to a phase or to a workload")
        return self


class Recovery(_Table):
    """The event that a GPU has to recover from: a program ends, or enters a phase."""

    after: str
    phase: Count | None = None


class Scenario(_Table):
    """The whole input of a simulation."""

    name: str = Field(min_length=1, max_length=60)
    title: str = ""
    gpus: str
    nodes: Annotated[int, Field(ge=1, le=10_000)] = 1
    # After so many seconds the simulation ends, even if programs run. None: when all have ended.
    until: Annotated[float, Field(gt=0)] | None = None
    # From an order of the core to the first launch that follows from it. Measured on hand-overs of
    # an earlier implementation: half of them took 86 to 125 us.
    latency: Seconds = 100e-6
    # Emulated seconds in a real second in a trial: the time that real machines take for a start or
    # a hand-over counts that many times.
    speed: Annotated[float, Field(gt=0)] = 20.0
    # Whether to measure the time until the GPU is back at full speed, and after which event.
    recovery: Recovery | None = None
    settings: DeviceSettings = DeviceSettings()
    device: dict[int, dict[str, Any]] = {}
    program: tuple[Program, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _devices_exist(self) -> "Scenario":
        count = len(self.profiles())
        for index in self.device:
            if index >= count:
                raise ValueError(f"device.{index}: there are only {count} GPUs")
            self.settings_of(index)
        for program in self.program:
            if isinstance(program.gpu, int) and program.gpu >= count:
                raise ValueError(f"program {program.name}: gpu: there are only {count} GPUs")
            if program.ranks and max(program.ranks) >= count:
                raise ValueError(f"program {program.name}: ranks: there are only {count} GPUs")
        return self

    @model_validator(mode="after")
    def _recovers_from_something(self) -> "Scenario":
        told = self.recovery
        if told is None:
            return self
        named = [one for one in self.program if one.name == told.after and one.count == 1]
        if len(named) != 1:
            raise ValueError(f'recovery.after: "{told.after}" is not the name of one program')
        if told.phase is not None and told.phase > len(named[0].phase) * named[0].repeat:
            raise ValueError(f"recovery.phase: {told.after} has no phase {told.phase}")
        return self

    @property
    def has_ranks(self) -> bool:
        """Whether some program uses several GPUs."""
        return any(program.ranks for program in self.program)

    def profiles(self) -> list[Profile]:
        """Return the profile of each GPU."""
        try:
            return parse_gpus(self.gpus) * self.nodes
        except BadInputError as error:
            raise ValueError(f"gpus: {error.what}; {error.do}") from error

    def settings_of(self, index: int) -> DeviceSettings:
        """Return the settings of one GPU."""
        changes = self.device.get(index)
        if not changes:
            return self.settings
        try:
            return self.settings.changed(changes)
        except ValidationError as error:
            raise ValueError(f"device.{index}.{'; '.join(describe(error))}") from error

    def with_policy(self, text: str) -> "Scenario":
        """Return the same scenario under another mode, policy, or both: "serial", "auto/fifo"."""
        changes: dict[str, Any] = {}
        for word in text.split("/"):
            field = "mode" if word in MODES else "policy" if word in policy_names() else None
            if field is None or field in changes:
                raise BadInputError(
                    f'"{text}" is not a way to share a GPU',
                    why=f"modes are {', '.join(MODES)}; policies are {', '.join(policy_names())}",
                    do="give one of them, or a mode and a policy, such as auto/fifo",
                )
            changes[field] = word
        device = {index: {**own, **changes} for index, own in self.device.items()}
        settings = self.settings.changed(changes)
        return self.model_copy(update={"settings": settings, "device": device})


def load_file(path: Path) -> Scenario:
    """Load a scenario from a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"the scenario {path} cannot be read",
            why=str(error),
            do="give the path of a TOML file, or a name that `nvshare simulate --list` shows",
        ) from error
    return parse_scenario(text, source=str(path))


def parse_scenario(text: str, *, source: str) -> Scenario:
    """Turn TOML text into a scenario; errors name the source and every wrong field."""
    try:
        return Scenario.model_validate(parse_toml(text))
    except ParseError as error:
        raise BadInputError(
            f"{source}: not valid TOML", why=str(error), do="correct the file"
        ) from error
    except ValidationError as error:
        raise BadInputError(
            "\n".join(f"{source}: {line}" for line in describe(error)),
            do="correct the file; docs/simulator.md describes every field of a scenario",
        ) from error
