"""A daemon that starts at once: a fork of a process that has imported all that a daemon needs.

The imports take half a second of a core, and hundreds of tests start a daemon. It is the same code,
with the same options and the same environment. Only what comes with ``execve`` is different: its
command line in /proc, and pages of memory that it shares with the others. Tests about these start a
daemon as users do.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path

from nvshare.lab.emulator.libraries import library_folder

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.integration.forked_imports"])
_ROOT = Path(__file__).parents[2]


class Forked:
    """A daemon's process, with those methods of a Popen that tests use."""

    def __init__(self, options: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        with _variables_of_the_server():
            forkserver.ensure_running()
        priority = (os.sched_getscheduler(0), os.sched_getparam(0).sched_priority)
        arguments = (tuple(options), dict(environ), log, priority)
        # Where a test leaves it behind, it ends with us.
        self._process = _SERVER.Process(target=_be_the_daemon, args=arguments, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, if it has ended; negative: the signal that killed it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; return its exit code."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(f"the daemon {self.pid} has not ended after {timeout} s")
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self._process.exitcode is None:
            os.kill(self.pid, number)


def _be_the_daemon(
    options: Sequence[str],
    environ: Mapping[str, str],
    log: Path,
    priority: tuple[int, int],
) -> None:
    from nvshare.cli.main import main

    os.setsid()
    os.sched_setscheduler(0, priority[0], os.sched_param(priority[1]))
    os.environ.clear()
    os.environ.update(environ)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.argv = ["nvshare", "daemon", *options]
    main()


@contextmanager
def _variables_of_the_server() -> Iterator[None]:
    """Set what the loader reads once, at the start of a process, and where to import tests from."""
    changed = {"LD_LIBRARY_PATH": str(library_folder()), "PYTHONPATH": str(_ROOT)}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
