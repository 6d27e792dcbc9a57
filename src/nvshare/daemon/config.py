"""The configuration: a TOML file, then the environment, then flags; each overrides the one before.

A GPU's own table in the file overrides what all three say about GPUs in general. An error names
its source and the field. Nothing is cached: a reload reads everything again.
"""

import grp
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nvshare.daemon.sockets.address import parse_address
from nvshare.errors import BadInputError
from nvshare.parsing import ParseError, parse_toml
from nvshare.setting_types import BytesOrAuto
from nvshare.settings import DeviceSettings, NodeSettings, PeerSettings
from nvshare.telemetry.ceilings import NO_CEILING, Ceiling, Ceilings
from nvshare.validation import describe, plain
from nvshare.wire import environment


def _mode(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return int(value, 8)
        except ValueError:
            raise ValueError(plain(f'"{value}" is not a file mode such as "0660"')) from None
    raise ValueError('must be text such as "0660"')


def _group(value: Any) -> Any:
    if isinstance(value, str) and value:
        try:
            grp.getgrnam(value)
        except (KeyError, ValueError):
            raise ValueError(plain(f'there is no group "{value}"')) from None
    return value


def _address(value: str) -> str:
    if value:
        parse_address(value)
    return value


def _names(value: Any) -> Any:
    """Take indexes and UUIDs, as a list or with commas between them."""
    words = value.split(",") if isinstance(value, str) else value
    return [str(word).strip() for word in words] if isinstance(words, list | tuple) else words


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
FileMode = Annotated[int, Field(ge=0, le=0o777), BeforeValidator(_mode)]
GroupName = Annotated[str, BeforeValidator(_group)]
Address = Annotated[str, AfterValidator(_address)]


class Cluster(BaseModel):
    """What there is to know about the cluster that this machine is a node of, if it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # The annotations of this node's pods are followed; empty: there is no cluster.
    node: str = ""
    # Also read the limits that pods request as for HAMi.
    hami: bool = False
    # The most that pods may have, whatever their annotations say; and the exceptions for the pods
    # of some namespaces.
    ceiling: Ceiling = NO_CEILING
    ceilings: dict[str, Ceiling] = {}

    def all_ceilings(self) -> Ceilings:
        """Return the ceiling and its exceptions together."""
        return Ceilings(self.ceiling, self.ceilings)


class Config(BaseModel):
    """Everything but the settings of GPUs. Empty text: the default of that moment."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    socket_dir: str = ""
    control_dir: str = ""
    # Holds the lock, and the notes for the next daemon.
    private_dir: str = ""
    socket_mode: FileMode = 0o600
    control_mode: FileMode = 0o600
    # Which users may look, and whether they see names, processes and users of others.
    look_mode: FileMode = 0o666
    hide_others: bool = False
    socket_group: GroupName = ""
    log: Literal["debug", "info", "warn"] = "info"
    log_format: Literal["text", "json"] = "text"
    log_file: str = ""
    # After a restart, how long programs whose gates are open have to reconnect before others start.
    reconnect_seconds: float = Field(default=1.0, ge=0)
    # Seconds without clients after which the daemon ends; 0: never.
    idle_exit: float = Field(default=0.0, ge=0)
    # On an emulated node, the settings of GPUs count its seconds: a turn of 30 s is over when 30 s
    # have passed there.
    paced: bool = False
    max_clients: int = Field(default=4096, gt=0)
    host_memory: BytesOrAuto = "auto"
    # Where the cgroups of the machine are mounted, if the daemon is in a container.
    cgroup_dir: str = ""
    # Wait for GPUs if the machine has none yet, and for GPUs that another daemon has.
    wait_for_gpus: bool = False
    # The GPUs to share, by index or UUID; none: all of them.
    devices: Names = ()
    # Warn in the log of processes that use a GPU without nvshare.
    warn_outside: bool = True
    # Share them even if another daemon does. Both then give away the same memory.
    beside_others: bool = False
    # The address of the metrics for Prometheus, as host:port; empty: on the control socket only.
    metrics_address: Address = ""
    cluster: Cluster = Cluster()
    peers: PeerSettings = PeerSettings()
    gpu: DeviceSettings = DeviceSettings()
    gpus: dict[str, dict[str, Any]] = {}

    def node_settings(self) -> NodeSettings:
        """The settings that hold for all GPUs together."""
        return NodeSettings(host_memory=self.host_memory)

    def settings_of(self, index: int, uuid: str) -> DeviceSettings:
        """The settings of one GPU. Its table is named by its UUID or its index."""
        return self.gpu.changed(self.gpus.get(str(index), {})).changed(self.gpus.get(uuid, {}))


@dataclass(frozen=True)
class Sources:
    """Where a configuration comes from, so that it can be read again."""

    file: Path | None
    environ: Mapping[str, str]
    flags: Mapping[str, Any]

    def load(self) -> Config:
        """Read everything."""
        layers = [_from_file(self.file), _from_environment(self.environ), dict(self.flags)]
        names = [str(self.file), "environment", "command line"]
        merged: dict[str, Any] = {}
        for name, layer in zip(names, layers, strict=True):
            # Each alone first, so that an error names its source.
            _check(name, layer)
            merged = _merge(merged, layer)
        return _check(" and ".join(names), merged)


def find_file(given: str | None, environ: Mapping[str, str]) -> Path | None:
    """Return the file to read: one that was named, or the usual one if it exists."""
    named = given or environ.get(environment.CONFIG)
    if named:
        return Path(named)
    if os.getuid() == 0:
        usual = Path("/etc/nvshare/config.toml")
    else:
        home = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        usual = Path(home) / "nvshare" / "config.toml"
    return usual if usual.is_file() else None


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(
            f"the configuration file {path} cannot be read",
            why=error.strerror,
            do="check its name and its permissions",
        ) from error
    except (ParseError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"the configuration file {path} is not TOML", why=str(error), do="correct the file"
        ) from error


_VARIABLES = {
    environment.SOCKET_DIR: ("socket_dir",),
    environment.CONTROL_DIR: ("control_dir",),
    environment.PRIVATE_DIR: ("private_dir",),
    environment.SOCKET_MODE: ("socket_mode",),
    environment.CONTROL_MODE: ("control_mode",),
    environment.SOCKET_GROUP: ("socket_group",),
    environment.LOG: ("log",),
    environment.LOG_FORMAT: ("log_format",),
    environment.LOG_FILE: ("log_file",),
    environment.CGROUP_DIR: ("cgroup_dir",),
    environment.NODE_NAME: ("cluster", "node"),
    environment.MODE: ("gpu", "mode"),
    environment.TURN: ("gpu", "turn_seconds"),
    environment.RESERVE: ("gpu", "reserve"),
}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    layer: dict[str, Any] = {}
    for variable, (*tables, field) in _VARIABLES.items():
        if value := environ.get(variable):
            place = layer
            for table in tables:
                place = place.setdefault(table, {})
            place[field] = value
    return layer


def _merge(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    merged = dict(low)
    for key, value in high.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


# Fields that had another name once: a file of that time gets an error that names the new one.
_RENAMED = {"settle": "reconnect_seconds"}


def _check(source: str, values: dict[str, Any]) -> Config:
    for old in _RENAMED.keys() & values.keys():
        new = _RENAMED[old]
        raise BadInputError(f"{source}: {old} is called {new} now", do=f"write {new} instead")
    try:
        config = Config.model_validate(values)
        for name, table in config.gpus.items():
            _check_gpu(config, name, table)
    except ValidationError as error:
        raise BadInputError(
            "\n".join(f"{source}: {line}" for line in describe(error)),
            do="correct it; docs/daemon.md describes every field",
        ) from error
    return config


def _check_gpu(config: Config, name: str, table: dict[str, Any]) -> None:
    try:
        config.gpu.changed(table)
    except ValidationError as error:
        lines = [f"gpus.{name}.{line}" for line in describe(error)]
        raise BadInputError(
            "\n".join(lines), do="correct the configuration; docs/daemon.md describes every field"
        ) from error
