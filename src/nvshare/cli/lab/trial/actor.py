"""One program of a trial: a process that waits for the order to begin."""

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nvshare.errors import NvshareError

# The beginning of each line that the interposer prints.
_OURS = "nvshare["


@dataclass(frozen=True)
class Ending:
    """What a program reports at its end. Times are emulated seconds."""

    seconds: float
    # None, and no phases: the program does not know, and the GPU's counts are used.
    iterations_per_s: float | None = None
    phases: tuple[float, ...] = ()
    # The warnings that the interposer printed.
    warnings: tuple[str, ...] = ()


class Actor:
    """A process. When it is ready it has loaded the driver, but has not used a GPU."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        # A file: a pipe that is not read meanwhile would fill up, as progress bars print a lot.
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait until it can be told to begin."""
        if self._process.stdout is None or self._process.stdout.readline() != "ready\n":
            self._fail()

    def begin(self, gpu: int, instant: float) -> None:
        """Have it begin on a GPU at an instant of the monotonic clock, past or future."""
        if self._process.stdin is None:
            raise ValueError("a process without standard input")
        self._process.stdin.write(f"{gpu} {instant:.9f}\n")
        self._process.stdin.flush()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def ending(self) -> Ending:
        """Wait for its end, and return its report."""
        output, _ = self._process.communicate()
        if self._process.returncode != 0:
            self._fail()
        warnings = self._warnings()
        self._errors.close()
        told = json.loads(output)
        phases = tuple(told.get("phases", ()))
        return Ending(told["seconds"], told.get("iterations_per_s"), phases, warnings)

    def end(self) -> dict[str, Any]:
        """Ask it to end, and return its report."""
        self._process.terminate()
        output, _ = self._process.communicate()
        if self._process.returncode != 0:
            self._fail()
        told: dict[str, Any] = json.loads(output)
        return told

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _warnings(self) -> tuple[str, ...]:
        self._errors.seek(0)
        return tuple(line.strip() for line in self._errors if line.startswith(_OURS))

    def _fail(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.seek(0)
        errors = self._errors.read().strip()
        self._errors.close()
        raise NvshareError(
            "a program of the scenario failed", why=errors or "it printed no error message"
        )
