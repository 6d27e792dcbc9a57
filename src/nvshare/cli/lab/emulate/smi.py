"""``nvshare emulate smi``: show the GPUs of a node and what runs on them."""

from typing import Any

import click

from nvshare.cli.json_output import follow_json
from nvshare.cli.lab.emulate.options import node_name
from nvshare.cli.lab.emulate.smi_table import render
from nvshare.cli.output import follow, show
from nvshare.lab.emulator.emulated_node import find
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.smi import GpuReading, Reader, Snapshot

_SECONDS_BETWEEN = 1.0


@click.command()
@node_name
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON per reading.")
@click.option("--watch", is_flag=True, help="Repeat every second until Ctrl-C.")
def smi(name: str, as_json: bool, watch: bool) -> None:
    """Show memory, utilisation and processes of a node."""
    reader = Reader(find(node_root(), name), library_folder())
    if as_json:
        follow_json(lambda: _described(reader.read()), _SECONDS_BETWEEN if watch else None)
    elif watch:
        follow(lambda: render(reader.read()), _SECONDS_BETWEEN)
    else:
        show(render(reader.read()))


def _described(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot with the keys of docs/json.md."""
    return {
        "node": snapshot.node,
        "driver_version": snapshot.driver_version,
        "devices": [_described_gpu(gpu) for gpu in snapshot.gpus],
    }


def _described_gpu(gpu: GpuReading) -> dict[str, Any]:
    return {
        "index": gpu.index,
        "uuid": gpu.uuid,
        "name": gpu.name,
        "error": gpu.error,
        "memory": gpu.memory_total_bytes,
        "used": gpu.memory_used_bytes,
        "utilisation_percent": gpu.utilisation_percent,
        "temperature_c": gpu.temperature_c,
        "power_w": gpu.power_w,
        "power_limit_w": gpu.power_limit_w,
        "processes": [
            {"pid": one.pid, "program": one.name, "used": one.memory_bytes, "kept": one.host_bytes}
            for one in gpu.processes
        ],
    }
