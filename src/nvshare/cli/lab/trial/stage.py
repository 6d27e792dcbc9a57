"""An emulated node, and a daemon on it if programs are to share."""

import contextlib
import json
import os
import select
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nvshare import kernel
from nvshare.cli.control import Daemon
from nvshare.cli.lab.trial.realtime import LEAST, ahead_of_others
from nvshare.errors import NvshareError
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.profile import Profile
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.launch.place import control_socket
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.launch.start import find_or_start
from nvshare.settings import DeviceSettings
from nvshare.wire import environment

_PATIENCE_S = 10.0


@dataclass(frozen=True)
class Stage:
    """Where programs run. ``environ`` puts them there; without a daemon there is no scheduling."""

    node: Node
    environ: dict[str, str]
    daemon: Daemon | None
    # What its daemon was started with, and the next one is.
    daemon_environ: dict[str, str] | None = None

    def end_daemon(self, how: signal.Signals) -> None:
        """End the daemon by a signal, and wait for its end. Programs go on without it."""
        if self.daemon is not None:
            _end(self.daemon.status().pid, how)

    def start_daemon(self) -> None:
        """Start a daemon in place of one that has ended."""
        if self.daemon_environ is not None:
            find_or_start(self.daemon_environ, idle_exit=0)


@contextlib.contextmanager
def open_stage(
    profiles: Sequence[Profile],
    speed: float,
    settings: Sequence[DeviceSettings] | None = None,
    *,
    rank: int = LEAST,
    wishes: Wishes | None = None,
    data: Literal["on", "off"] = "off",
) -> Iterator[Stage]:
    """Yield a stage, and remove it at the end. With settings for each GPU, it has a daemon.

    ``data``: whether bytes are really copied and computed with.
    """
    # The caller may itself run under nvshare or on a node; the stage must not inherit that.
    outside = without_preload(os.environ)
    outside = {key: value for key, value in outside.items() if not key.startswith("NVSHARE_")}
    with (
        ahead_of_others(rank),
        transient_node(node_root(), Settings(speed=speed, data=data), profiles) as node,
    ):
        environ = {**outside, **node.environment(library_folder(), outside)}
        if settings is None:
            yield Stage(node, environ, None)
            return
        config = node.folder / "daemon.toml"
        # Notices would count as warnings, and some programs are meant to wait.
        without_notices = [one.changed({"wait_notice": "off"}) for one in settings]
        config.write_text(config_text([one.at_speed(speed) for one in without_notices]))
        configured = {**environ, environment.CONFIG: str(config)}
        with _daemon(configured) as daemon:
            folder = daemon.path.parent
            managed = program_environment(wishes or Wishes(), folder, library(), environ)
            yield Stage(node, {**environ, **managed}, daemon, configured)


def config_text(settings: Sequence[DeviceSettings]) -> str:
    """Return the daemon's configuration. It must hold from the start, when the daemon learns."""
    lines = []
    for index, one in enumerate(settings):
        fields = one.model_dump()
        lab = fields.pop("lab")
        for table, values in ((f"gpus.{index}", fields), (f"gpus.{index}.lab", lab)):
            lines.append(f"[{table}]")
            lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    return "".join(f"{line}\n" for line in lines)


@contextlib.contextmanager
def _daemon(environ: dict[str, str]) -> Iterator[Daemon]:
    # No idle exit: the next program may come late, and the daemon ends with the stage.
    find_or_start(environ, idle_exit=0)
    daemon = Daemon(control_socket(environ))
    daemon.status()
    try:
        yield daemon
    finally:
        # It may be another one by now, or none. Its node is removed next.
        with contextlib.suppress(NvshareError):
            _end(daemon.status().pid, signal.SIGTERM)


def _end(pid: int, how: signal.Signals) -> None:
    """End a daemon, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = kernel.pidfd_open(pid)
        try:
            kernel.pidfd_send_signal(descriptor, how)
            select.select([descriptor], [], [], _PATIENCE_S)
        finally:
            os.close(descriptor)
