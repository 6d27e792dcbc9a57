"""``nvshare bench launch``: the emulated driver's cost per call, with its model on and off."""

import json
import os
import subprocess
from collections.abc import Iterator

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program

_GPUS = "tiny"
_SPEED = 1000.0


@registered("launch")
def measure() -> Iterator[Line]:
    """Yield one line per call and model."""
    program = str(installed_program("bench", "call-cost"))
    with transient_node(node_root(), Settings(speed=_SPEED), parse_gpus(_GPUS)) as node:
        environment = {**os.environ, **node.environment(library_folder(), os.environ)}
        for what in ("launch", "copy", "info", "alloc"):
            costs = {}
            for model in ("on", "off"):
                output = subprocess.run(
                    [program, what, "500" if model == "on" else "20000"],
                    env={**environment, "NVSHARE_EMULATOR_MODEL": model},
                    check=True,
                    capture_output=True,
                )
                costs[f"model_{model}_ns"] = json.loads(output.stdout)["ns"]
            yield {"what": what, **costs, "gpus": _GPUS, "speed": _SPEED}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def launch(as_json: bool) -> None:
    """Measure the emulated driver's own cost per call."""
    show("launch", measure, as_json)
