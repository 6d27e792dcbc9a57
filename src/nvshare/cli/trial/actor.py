"""One program of a trial: a process that waits until it is told to begin."""

import json
import subprocess
from collections.abc import Mapping, Sequence

from nvshare.emulator.workload import Result
from nvshare.errors import NvshareError


class Actor:
    """A process. It has loaded the driver when it is ready, and has touched no GPU."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait until it can be told to begin."""
        if self._process.stdout is None or self._process.stdout.readline() != "ready\n":
            self._fail()

    def begin(self, gpu: int, instant: float) -> None:
        """Have it begin on a GPU at an instant of the monotonic clock, past or to come."""
        if self._process.stdin is None:
            raise ValueError("a process without standard input")
        self._process.stdin.write(f"{gpu} {instant:.9f}\n")
        self._process.stdin.flush()

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self._process.poll() is not None

    def result(self) -> Result:
        """Return what it says of itself at its end."""
        output, errors = self._process.communicate()
        if self._process.returncode != 0:
            self._fail(errors)
        told = json.loads(output)
        return Result(**{**told, "phases": tuple(told.get("phases", ()))})

    def stop(self) -> None:
        """End it now, whatever it is doing."""
        self._process.kill()
        self._process.communicate()

    def _fail(self, errors: str | None = None) -> None:
        if errors is None:
            self._process.kill()
            errors = self._process.communicate()[1]
        raise NvshareError("a program of the scenario failed", why=errors.strip() or "no reason")
