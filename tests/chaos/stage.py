"""The setting of a campaign: a node of two GPUs, a daemon, and programs that do not all fit."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.profile import Profile
from nvshare.lab.emulator.transient import transient_node
from nvshare.launch.preload import without_preload
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.wire import environment
from tests.earlier import earlier_library
from tests.integration.hammering import build_hammer

from .excuses import Excuses
from .journal import Journal
from .plan import Role
from .programs import Program
from .supervisor import Supervisor

# Short times, so that every program has many turns between two faults.
REVOKE_PATIENCE = 2.0
SILENCE = 2.0
# Less than some daemons are away, and more than others.
RESTART_WAIT = 1.0
_CONFIG: dict[str, Any] = {
    "reconnect_seconds": 0.5,
    "host_memory": "4Gi",
    "gpu": {
        "turn_seconds": 0.3,
        "revoke_patience": REVOKE_PATIENCE,
        "lab": {"context": "24Mi"},
        "reserve": "128Mi",
    },
}
# Fewer programs, which must not all fit either. Memory moves less often, since that takes most of
# the processor's time.
_SMALL_CONFIG = {**_CONFIG, "gpu": {**_CONFIG["gpu"], "reserve": "288Mi", "turn_seconds": 1.0}}
SHM = Path("/dev/shm")
# Set by run.py where it has mounts of its own.
HAS_MOUNTS = "TEST_CHAOS_MOUNTS"


@dataclass(frozen=True)
class Stage:
    """All targets of faults."""

    folder: Path
    kept: Path
    private: Path
    # The daemon's configuration.
    config: Mapping[str, Any]
    node: Node
    supervisor: Supervisor
    programs: tuple[Program, ...]
    excuses: Excuses
    journal: Journal

    def program(self, number: int) -> Program:
        """Return one of them."""
        return self.programs[number % len(self.programs)]

    def unknown_to(self, status: NodeStatus | None) -> list[str]:
        """Return the processes that use a GPU and are missing from this status of the daemon."""
        known = {client.pid for client in status.clients} if status else set()
        return [
            f"{program.role} (pid {pid})"
            for program in self.programs
            for pid in program.computing
            if pid not in known
        ]

    def look_after_all(self) -> None:
        """Start the daemon and every program that is not running."""
        self.supervisor.look_after()
        for program in self.programs:
            program.look_after(self.kept)


def _gpu() -> Profile:
    """The smallest GPU with room for the memory that programs use beyond what they ask for."""
    (tiny,) = parse_gpus("tiny")
    memory = tiny.memory.model_copy(update={"total_mib": 512, "usable_mib": 496})
    return tiny.model_copy(update={"memory": memory})


@contextmanager
def staged(
    roles: tuple[Role, ...], kept: Path, journal: Journal, *, is_small: bool
) -> Iterator[Stage]:
    """Make a stage; ``kept`` is where logs go. All else is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="nvshare-chaos-") as name:
        folder = Path(name)
        built = folder / "built"
        built.mkdir()
        for program in sorted({role.program for role in roles} & {"keeper", "fuzzer"}):
            build_hammer(built, library_folder(), name=program)
        with _mounts(folder), transient_node(folder / "nodes", Settings(), [_gpu()] * 2) as node:
            config = _SMALL_CONFIG if is_small else _CONFIG
            (folder / "config.toml").write_text(_toml(config), encoding="utf-8")
            yield from _with_daemon(roles, folder, kept, config, node, journal)


@contextmanager
def _mounts(folder: Path) -> Iterator[None]:
    """Small file systems where the daemon keeps things, and for /dev/shm, if we may mount them."""
    sizes = {folder / "nodes": "256m", folder / "private": "128k", SHM: "16m"}
    for path, size in sizes.items():
        path.mkdir(mode=0o700, exist_ok=True)
        if has_mounts():
            options = ("-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs")
            subprocess.run(["/usr/bin/mount", *options, path], check=True)
    try:
        yield
    finally:
        for path in sizes if has_mounts() else ():
            subprocess.run(["/usr/bin/umount", path], check=True)


def has_mounts() -> bool:
    """Whether run.py has given us mounts of our own."""
    return bool(os.environ.get(HAS_MOUNTS))


def _with_daemon(
    roles: tuple[Role, ...],
    folder: Path,
    kept: Path,
    config: Mapping[str, Any],
    node: Node,
    journal: Journal,
) -> Iterator[Stage]:
    sockets, private, built = folder / "sockets", folder / "private", folder / "built"
    (folder / "tmp").mkdir()
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
    base = {
        **inherited,
        **node.environment(library_folder(), inherited),
        "TMPDIR": str(folder / "tmp"),
        environment.SOCKET_DIR: str(sockets),
        environment.PRIVATE_DIR: str(private),
        environment.CONFIG: str(folder / "config.toml"),
        environment.SILENCE: str(SILENCE),
        environment.RESTART_WAIT: str(RESTART_WAIT),
        environment.WAIT_NOTICE: "0",
    }
    supervisor = Supervisor(sockets, kept / "daemon.log", without_preload(base), journal)
    excuses = Excuses()
    earlier = earlier_library(built)
    programs = tuple(
        Program(role, built, sockets, base, earlier, excuses, journal) for role in roles
    )
    try:
        yield Stage(folder, kept, private, config, node, supervisor, programs, excuses, journal)
    finally:
        for program in programs:
            program.close()
        supervisor.close()


def _toml(table: Mapping[str, Any], name: str = "") -> str:
    """Write a table with tables in it, as TOML."""
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [f"[{name.removesuffix('.')}]"] if name else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if key not in inner]
    lines += [_toml(value, f"{name}{key}.") for key, value in inner.items()]
    return "\n".join(lines)
