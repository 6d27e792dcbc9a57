"""The daemon of a campaign, started again whenever it has ended, as a supervisor would."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from nvshare.cli.control import Daemon
from nvshare.errors import NvshareError
from nvshare.launch.place import CONTROL_NAME

from .cgroup import make_cgroup
from .journal import Journal
from .processes import descriptors, ending_with_us, handles

ROOT = Path(__file__).parents[2]
_PAUSE = 0.2
_PATIENCE = 30.0


class Supervisor:
    """One daemon after the other."""

    def __init__(
        self, sockets: Path, log: Path, environ: Mapping[str, str], journal: Journal
    ) -> None:
        self.sockets = sockets
        self._log = log
        self._environ = dict(environ)
        self._journal = journal
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False
        self._not_before = 0.0
        self._is_over = False
        # The version that the next one imitates (other_version.py); "": none.
        self.version = ""
        self.control = Daemon(sockets / CONTROL_NAME)
        self.cgroup = make_cgroup("daemon")
        self.started = 0
        self.fewest_descriptors = 0

    @property
    def pid(self) -> int | None:
        """The pid of the running daemon."""
        with self._lock:
            process = self._process
            return process.pid if process and process.poll() is None else None

    def look_after(self) -> None:
        """Start it if it is not running."""
        with self._lock:
            if self._is_over:
                return
            if self._process is not None and self._process.poll() is not None:
                if not self._is_killed:
                    code = self._process.returncode
                    self._journal.fail(f"the daemon has ended by itself, with {code}")
                    self._not_before = time.monotonic() + 1.0
                self._process = None
                self._is_killed = False
            if self._process is None and time.monotonic() >= self._not_before:
                self._start()

    def kill(self, away: float, number: signal.Signals = signal.SIGKILL) -> None:
        """End it; the next one is started after so many seconds."""
        with self._lock:
            process = self._process
            if process is None or self.pid is None:
                return
            self._is_killed = True
            self._not_before = time.monotonic() + max(away, _PAUSE)
            process.send_signal(number)
        # Without the lock: it may be stopped and need a SIGCONT before it can end.
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._journal.fail(f"the daemon has not ended {_PATIENCE:g} s after {number.name}")

    @property
    def is_up(self) -> bool:
        """Whether it has started far enough that it serves, or soon will."""
        return (pid := self.pid) is not None and handles(pid, signal.SIGHUP)

    def reload(self) -> None:
        """Have it read its configuration again, if it has started far enough to do so."""
        if self.is_up:
            self.send(signal.SIGHUP)

    def note_descriptors(self) -> None:
        """Record how many descriptors a daemon without clients has open."""
        assert self.pid is not None
        self.fewest_descriptors = len(descriptors(self.pid))

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the running daemon."""
        if (pid := self.pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def wait_until_it_answers(self) -> None:
        """Wait until it answers, or fail."""
        deadline = time.monotonic() + 2 * _PATIENCE
        while not self._is_answering():
            if time.monotonic() > deadline:
                self._journal.fail(f"the daemon does not answer for {2 * _PATIENCE:g} s")
                return
            time.sleep(0.1)

    def _is_answering(self) -> bool:
        try:
            self.control.status()
        except (NvshareError, OSError, ValueError):
            return False
        return True

    def end(self) -> int:
        """End it as a service manager does; return its exit code."""
        with self._lock:
            self._is_over = True
            if self._process is None:
                return 0
            self._process.terminate()
            try:
                return self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                return self._process.wait()

    def _start(self) -> None:
        self.started += 1
        module = ("tests.chaos.other_version", self.version) if self.version else ("nvshare",)
        command = (sys.executable, "-m", *module, "daemon", f"--socket-dir={self.sockets}")
        with self._log.open("ab") as file:
            self._process = subprocess.Popen(
                [*ending_with_us(), *command],
                env={**self._environ, "PYTHONPATH": str(ROOT)} if self.version else self._environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd="/",
            )
        if self.cgroup is not None:
            self.cgroup.take(self._process.pid)

    def close(self) -> None:
        """Leave nothing behind."""
        self.end()
        if self.cgroup is not None:
            self.cgroup.remove()
