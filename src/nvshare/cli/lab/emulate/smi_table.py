"""The tables of ``nvshare emulate smi``, in the manner of nvidia-smi. Reads nothing itself."""

from rich.console import Group, RenderableType
from rich.markup import escape

from nvshare.cli.output import Column, Rows
from nvshare.lab.emulator.smi import GpuReading, Snapshot

_MIB = 1024**2


def render(snapshot: Snapshot) -> RenderableType:
    """Return both tables: the GPUs, and the processes on them."""
    return Group(_gpus(snapshot), _processes(snapshot))


def _gpus(snapshot: Snapshot) -> Rows:
    table = Rows(
        *(Column("GPU", justify="right"), Column("Name", rank=1)),
        *(Column("Temp", 4, "right"), Column("Power", 3, "right"), Column("Memory", 0, "right")),
        Column("GPU-Util", 2, "right"),
        title=f"emulated node {snapshot.node}, driver {snapshot.driver_version}",
    )
    for gpu in snapshot.gpus:
        table.add_row(
            str(gpu.index),
            escape(gpu.name),
            _or_na(gpu.temperature_c, "C"),
            f"{_or_na(gpu.power_w, 'W')} / {_or_na(gpu.power_limit_w, 'W')}",
            gpu.error or f"{_mib(gpu.memory_used_bytes)} / {_mib(gpu.memory_total_bytes)}",
            _or_na(gpu.utilisation_percent, "%"),
        )
    return table


def _processes(snapshot: Snapshot) -> Rows:
    table = Rows(
        *(Column("GPU", justify="right"), Column("PID", justify="right"), "Process"),
        *(Column("Memory", justify="right"), Column("Host", 1, "right")),
        title="processes",
    )
    for gpu in snapshot.gpus:
        _add_processes(table, gpu)
    if not len(table):
        table.add_row("", "", "none", "", "")
    return table


def _add_processes(table: Rows, gpu: GpuReading) -> None:
    for process in gpu.processes:
        table.add_row(
            str(gpu.index),
            str(process.pid),
            escape(process.name),
            _mib(process.memory_bytes),
            _mib(process.host_bytes),
        )


def _mib(size: int) -> str:
    return f"{size / _MIB:.0f}MiB"


def _or_na(value: float | None, unit: str) -> str:
    return "N/A" if value is None else f"{value:.0f}{unit}"
