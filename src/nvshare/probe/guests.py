"""A temporary daemon of our own, and the environment that puts programs under it.

Not the machine's daemon: that one has programs of its own, and settings that are not ours to
change. Ours gives turns of a second, one program at a time.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nvshare.errors import NvshareError
from nvshare.launch.place import answers
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.probe.readings import Unavailable
from nvshare.wire import environment
from nvshare.wire.places import SOCKET_NAME

_PATIENCE_S = 20.0
_LOOK_S = 0.05


class Guests:
    """A daemon in a folder of its own."""

    def __init__(self, folder: Path, outside: Mapping[str, str]) -> None:
        self._outside = {**outside, environment.SOCKET_DIR: str(folder)}
        try:
            self.environ = {
                **outside,
                **program_environment(Wishes(), folder, library(), outside),
            }
        except NvshareError as error:
            raise Unavailable(error.what) from error

    def another(self) -> dict[str, str]:
        """Return the environment of a program in a group of its own."""
        return {**self.environ, environment.GROUP: os.urandom(16).hex()}

    def status(self) -> dict[str, Any]:
        """Return the daemon's snapshot."""
        command = [sys.executable, "-m", "nvshare", "status", "--json"]
        done = subprocess.run(
            command, env=self._outside, capture_output=True, text=True, timeout=_PATIENCE_S
        )
        if done.returncode:
            raise Unavailable(f"the daemon does not answer: {done.stderr.strip()}")
        status: dict[str, Any] = json.loads(done.stdout)
        return status

    def client(self, pid: int) -> dict[str, Any]:
        """Return a program's entry in the snapshot, if it has one."""
        clients = [one for one in self.status()["clients"] if one["pid"] == pid]
        return clients[0] if clients else {}


@contextlib.contextmanager
def own_daemon() -> Iterator[Guests]:
    """Start a daemon, and end it."""
    # The user's settings for daemon and programs do not apply to ours.
    outside = {
        name: value
        for name, value in without_preload(os.environ).items()
        if not name.startswith("NVSHARE_") or "EMULATOR" in name
    }
    with tempfile.TemporaryDirectory(prefix="nvshare-doctor-") as name:
        folder = Path(name)
        command = [sys.executable, "-m", "nvshare", "daemon", f"--socket-dir={folder}"]
        # If this process dies first, the daemon ends by itself.
        options = ["--mode=serial", "--turn=1", "--config=/dev/null", "--idle-exit=60"]
        # The GPU may have a daemon already, whose programs must not be disturbed.
        options.append("--beside-others")
        with (folder / "daemon.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *options], env=outside, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            _wait(process, folder)
            yield Guests(folder, outside)
        finally:
            process.terminate()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not answers(folder / SOCKET_NAME):
        if process.poll() is not None or time.monotonic() > until:
            words = (folder / "daemon.log").read_text(errors="replace").strip().splitlines()
            raise Unavailable(f"no daemon could be started: {(words or ['no word'])[-1]}")
        time.sleep(_LOOK_S)
