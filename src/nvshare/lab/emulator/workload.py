"""The driver-API workloads of ``lab/workloads/driver``, run on an emulated node.

Starts them and reads their results. The demo, the benchmarks and the tests decide which of them run
together.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder

NAMES = ("pytorch-add", "pytorch-add-small", "pytorch-add-idle-small")


@dataclass(frozen=True)
class Result:
    """The result of a workload. Times are emulated seconds."""

    workload: str
    iterations: int
    seconds: float
    loop_seconds: float
    iterations_per_s: float


def installed_program(folder: str, name: str) -> Path:
    """Return the path of a program that was built with the package."""
    program = Path(str(files("nvshare") / "lib" / folder / name))
    if not program.is_file():
        raise NvshareError(
            f"the program {name} is not installed",
            why=f"it was looked for in {program.parent}",
            do="run `make build` in the source tree, or reinstall the nvshare package",
        )
    return program


def workload_command(name: str, *options: str) -> list[str]:
    """Return the command line of a workload, for callers that start it themselves."""
    return [str(installed_program("workloads", "driver-add")), name, *options]


class Run:
    """A workload under way on a node."""

    def __init__(
        self,
        node: Node,
        name: str,
        *options: str,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        inherited = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(
            [*prefix, *workload_command(name, *options)],
            env={**inherited, **node.environment(library_folder(), inherited)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end, and return the result that the workload prints."""
        output, errors = self.process.communicate(timeout=timeout)
        if self.process.returncode != 0:
            raise NvshareError(
                "a workload failed", why=errors.strip() or "it printed no error message"
            )
        return Result(**json.loads(output))

    def stop(self) -> None:
        """End it now, in any state."""
        self.process.kill()
        self.process.communicate()
