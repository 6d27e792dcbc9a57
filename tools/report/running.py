"""Runs benchmarks for a page, and writes their output to the file that the page is made from."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nvshare.cli.lab.bench.scenarios import REALLY
from nvshare.errors import NvshareError

NVSHARE = Path(sys.executable).parent / "nvshare"

FULL = (("bench", "all"),)
# On the emulator only what takes seconds, and everything else in the simulator.
_SIMULATED = (*REALLY, "over-4x-8", "gangs-over")
QUICK: tuple[tuple[str, ...], ...] = (
    ("bench", "overhead", "--no-instructions"),
    ("bench", "handover"),
    ("bench", "swap", "--allocation", "explicit", "--speed", "4"),
    *(("bench", "scenario", name, "--on", "simulator") for name in _SIMULATED),
    ("bench", "scenario", "over-2x-2", "--speed", "50"),
    ("bench", "latency", "--on", "simulator", "--seconds", "300"),
    ("bench", "shares", "--on", "simulator"),
    ("bench", "simulator", "--short"),
)


def carry_out(commands: Sequence[tuple[str, ...]], results: Path) -> None:
    """Run the commands, and write their lines to a file as they come."""
    with results.open("w", encoding="utf-8") as file:
        for command in commands:
            began = time.monotonic()
            file.write(f"# nvshare {' '.join(command)}\n")
            file.flush()
            done = subprocess.run([NVSHARE, *command, "--json"], stdout=file)
            print(f"{time.monotonic() - began:6.1f} s  nvshare {' '.join(command)}", flush=True)
            if done.returncode:
                raise NvshareError(
                    f"`nvshare {' '.join(command)}` failed",
                    why=f"it ended with exit code {done.returncode}; its error message is above",
                    do=f"correct the cause, or use the results so far: make report FROM={results}",
                )


def commands_of(results: Path) -> tuple[str, ...]:
    """Return the commands that a file names as its origin."""
    lines = results.read_text(encoding="utf-8").splitlines()
    return tuple(line[2:] for line in lines if line.startswith("# nvshare "))


def machine_of(results: Path) -> dict[str, str]:
    """Return the description of the machine, from the first line that has one."""
    for line in results.read_text(encoding="utf-8").splitlines():
        if line.startswith("{") and (machine := json.loads(line).get("machine")):
            return {key: str(value) for key, value in machine.items()}
    return {}
