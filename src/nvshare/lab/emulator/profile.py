"""GPU models: the schema of a profile file, and the loading of one.

A profile is written in the units that data sheets use. ``nvshare.lab.emulator.conf`` converts them
to the units of the native library.
"""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from nvshare.errors import BadInputError
from nvshare.parsing import ParseError, parse_toml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Number = TypeVar("Number", int, float)

# One generous limit for every whole number: it keeps each product below 2**63 in any unit.
_LARGE = 1_000_000
Count: TypeAlias = Annotated[int, Field(gt=0, le=_LARGE)]
Size: TypeAlias = Annotated[float, Field(gt=0, le=16 * _LARGE)]
Rate: TypeAlias = Annotated[float, Field(gt=0, le=_LARGE)]
Duration: TypeAlias = Annotated[float, Field(ge=0, le=_LARGE)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Gpu(_Table):
    """The processor, as a device query reports it."""

    # The native side keeps a name in 64 bytes, the last of which is a zero.
    name: str = Field(max_length=63, pattern=r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$")
    compute_capability: str = Field(pattern=r"^[1-9][0-9]?\.[0-9]$")
    multiprocessors: Count
    cores_per_multiprocessor: Count
    clock_mhz: Count
    l2_kib: Count
    shared_kib_per_multiprocessor: Count
    shared_kib_per_block: Count
    threads_per_multiprocessor: Count
    blocks_per_multiprocessor: Count
    copy_engines: Count

    @field_validator("shared_kib_per_block")
    @classmethod
    def _fits_multiprocessor(cls, value: int, info: ValidationInfo) -> int:
        return _at_most(value, info, "shared_kib_per_multiprocessor")


class Memory(_Table):
    """The memory on the board: size, speed, and the cost of a context."""

    total_mib: Size
    usable_mib: Size
    context_mib: Size
    bandwidth_gb_per_s: Rate
    clock_mhz: Count
    bus_bits: Count

    @field_validator("usable_mib")
    @classmethod
    def _within_total(cls, value: float, info: ValidationInfo) -> float:
        return _at_most(value, info, "total_mib")

    @field_validator("context_mib")
    @classmethod
    def _within_usable(cls, value: float, info: ValidationInfo) -> float:
        return _at_most(value, info, "usable_mib")


class Bus(_Table):
    """The way to the host and to other GPUs."""

    pcie_generation: int = Field(ge=1, le=7)
    pcie_width: int = Field(ge=1, le=32)
    host_to_device_gb_per_s: Rate
    device_to_host_gb_per_s: Rate
    peer_gb_per_s: Rate
    duplex: float = Field(ge=1, le=2)
    pageable_gb_per_s: Rate


class Managed(_Table):
    """The cost of memory that moves by itself."""

    fault_gb_per_s: Rate
    fault_evict_gb_per_s: Rate
    populate_gb_per_s: Rate
    host_page_us: Duration
    host_map_us: Duration
    host_unmap_us: Duration
    service_us: Duration
    evict_us: Duration


class Handles(_Table):
    """Memory with handles, and the cost of its calls: each, and for every block of 2 MiB."""

    supported: bool
    create_us: Duration
    create_block_us: Duration
    map_us: Duration
    access_us: Duration
    access_block_us: Duration
    unmap_us: Duration
    unmap_block_us: Duration
    release_us: Duration
    release_block_us: Duration
    reserve_us: Duration


class Host(_Table):
    """The cost of page-locking, each call and for every 2 MiB."""

    register_us: Duration
    lock_block_us: Duration
    unlock_block_us: Duration


class Engine(_Table):
    """How work is run and shared between contexts."""

    slice_us: float = Field(ge=1, le=_LARGE)
    sharing_loss: float = Field(ge=0, le=1)
    kernel_floor_us: Duration
    launch_us: Duration
    context_create_ms: Duration
    queue_depth: int = Field(ge=1, le=65536)


class Board(_Table):
    """Power and temperature: constants that monitoring programs show."""

    power_idle_w: Duration
    power_limit_w: Duration
    temperature_idle_c: int = Field(ge=0, le=200)
    temperature_busy_c: int = Field(ge=0, le=200)


class Profile(_Table):
    """One GPU model."""

    gpu: Gpu
    memory: Memory
    bus: Bus
    managed: Managed
    handles: Handles
    host: Host
    engine: Engine
    board: Board


def _at_most(value: Number, info: ValidationInfo, other: str) -> Number:
    # A limit that is wrong itself is missing here, and has its own error.
    limit = info.data.get(other)
    if limit is not None and value > limit:
        raise ValueError(f"must be at most {other} ({limit:g})")
    return value


def known_profiles() -> list[str]:
    """Return the names of the profiles that come with nvshare, sorted."""
    folder = files("nvshare.lab.emulator") / "profiles"
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def load_known(name: str) -> Profile:
    """Load a profile that comes with nvshare; the name must be one of known_profiles()."""
    resource = files("nvshare.lab.emulator") / "profiles" / f"{name}.toml"
    return parse_profile(resource.read_text(encoding="utf-8"), source=f"{name}.toml")


def load_file(path: Path) -> Profile:
    """Load a profile from a file of the user's own."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"the profile {path} cannot be read",
            why=error.strerror,
            do="check the path; `nvshare emulate profiles` lists the profiles that need no path",
        ) from error
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"the profile {path} is not a text file",
            why=f"it is not UTF-8 at byte {error.start}",
            do="give the path of a TOML file",
        ) from error
    return parse_profile(text, source=str(path))


def parse_profile(text: str, *, source: str) -> Profile:
    """Turn TOML text into a profile; errors name the source and every wrong field."""
    try:
        return Profile.model_validate(parse_toml(text))
    except ParseError as error:
        raise BadInputError(
            f"{source}: not valid TOML", why=str(error), do="correct the file"
        ) from error
    except ValidationError as error:
        raise BadInputError(
            "\n".join(f"{source}: {_describe(detail)}" for detail in error.errors()),
            do="correct the file; docs/emulator.md describes every field of a profile",
        ) from error


def _describe(detail: "ErrorDetails") -> str:
    field = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "missing":
            problem = "is missing"
        case "extra_forbidden":
            problem = "is not a field of a profile"
        case "model_type":
            problem = "must be a table"
        case "value_error":
            problem = str(detail["ctx"]["error"])
        case "string_pattern_mismatch" if field == "gpu.compute_capability":
            problem = 'must look like "7.5"'
        case "string_pattern_mismatch":
            problem = "must be plain ASCII without spaces at its ends"
        case _:
            problem = detail["msg"].replace("Input should", "must", 1)
    return f"{field}: {problem}"
