import io
from dataclasses import replace

from rich.console import Console

from nvshare.cli.lab.emulate.smi_table import render
from nvshare.lab.emulator.smi import GpuReading, ProcessReading, Snapshot

MIB = 1024**2

BUSY = GpuReading(
    index=0,
    name="Tesla T4",
    uuid="GPU-1",
    temperature_c=70,
    power_w=68.4,
    power_limit_w=70.0,
    memory_used_bytes=12268 * MIB,
    memory_total_bytes=15360 * MIB,
    utilisation_percent=99,
    processes=(ProcessReading(4242, "py[bold]thon", 12268 * MIB, 100 * MIB),),
)
SILENT = GpuReading(1, "Odd", "GPU-2", None, None, None, 0, 256 * MIB, None, ())


def rows(snapshot: Snapshot) -> list[list[str]]:
    """Return the cells of every row that is drawn, without lines and spaces."""
    out = io.StringIO()
    Console(file=out, width=100).print(render(snapshot))
    cells = [line.strip("│┃").replace("┃", "│").split("│") for line in out.getvalue().splitlines()]
    return [[cell.strip() for cell in row] for row in cells]


def test_a_busy_gpu_and_its_process() -> None:
    drawn = rows(Snapshot("lab", "570.133", (BUSY,)))
    assert ["emulated node lab, driver 570.133"] in drawn
    assert ["0", "Tesla T4", "70C", "68W / 70W", "12268MiB / 15360MiB", "99%"] in drawn
    # A name that looks like markup stays a name.
    assert ["0", "4242", "py[bold]thon", "12268MiB", "100MiB"] in drawn


def test_a_gpu_that_is_lost() -> None:
    lost = replace(SILENT, error="GPU is lost")
    assert ["1", "Odd", "N/A", "N/A / N/A", "GPU is lost", "N/A"] in rows(
        Snapshot("lab", "570.133", (lost,))
    )


def test_what_is_not_known_is_said_to_be_so() -> None:
    drawn = rows(Snapshot("lab", "570.133", (SILENT,)))
    assert ["1", "Odd", "N/A", "N/A / N/A", "0MiB / 256MiB", "N/A"] in drawn
    assert ["", "", "none", "", ""] in drawn
