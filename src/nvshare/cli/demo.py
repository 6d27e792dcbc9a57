"""``nvshare demo``: programs that share a GPU, in under a minute. Needs no GPU."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from nvshare.emulator.conf import Settings
from nvshare.emulator.gpus import parse_gpus
from nvshare.emulator.node import Node
from nvshare.emulator.report import read_report
from nvshare.emulator.root import node_root
from nvshare.emulator.transient import transient_node
from nvshare.emulator.workload import Run
from nvshare.errors import NvshareError

_GPUS = "2xt4"
_SPEED = 100.0
_LOOK_S = 0.1
_STARTUP = ("--startup", "6")
_UNDER_NVSHARE = (sys.executable, "-m", "nvshare", "run", "--")


@dataclass(frozen=True)
class Program:
    """One program of the demo, and how many iterations it will make."""

    workload: str
    gpu: int
    iterations: int
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Programs that run at the same time, with nvshare or without."""

    title: str
    programs: tuple[Program, ...]
    shared: bool = False
    remark: str = ""


_SMALL = Program("pytorch-add-small", 0, 20000)
_LARGE = Program("pytorch-add", 0, 200)

_SCENES = (
    Scene(
        "one per GPU",
        (
            Program("pytorch-add", 0, 4000, _STARTUP),
            Program("pytorch-add-small", 1, 40000, _STARTUP),
        ),
        remark="a real T4: 163 s, 392 s",
    ),
    Scene("two share", (_SMALL, _SMALL), shared=True, remark="nobody is switched out"),
    # The second one comes when the first has its memory.
    Scene(
        "two of 12 GB",
        (_LARGE, replace(_LARGE, options=("--startup", "2"))),
        remark="the second is refused",
    ),
    Scene(
        "and paging",
        (Program("pytorch-add", 0, 10, ("--managed",)),) * 2,
        remark="unified memory alone: thrashing",
    ),
)


@click.command()
def demo() -> None:
    """Show programs that share a GPU, on an emulated node with two T4s."""
    console = Console()
    console.print(
        f"An emulated node with two Tesla T4s; {_SPEED:.0f} emulated seconds pass in one real one."
    )
    settings = Settings(speed=_SPEED, data="off")
    table = Table("", "nvshare", "program", "GPU", "emulated", "it/s", "", title="Result")
    with transient_node(node_root(), settings, parse_gpus(_GPUS)) as node:
        for scene in _SCENES:
            _play(console, table, node, scene)
    console.print(table)
    console.print("Everything above ran on emulated GPUs. Times are emulated seconds.")


def _play(console: Console, table: Table, node: Node, scene: Scene) -> None:
    runs = [
        Run(
            node,
            program.workload,
            *("--iterations", str(program.iterations), "--device", str(program.gpu)),
            *program.options,
            prefix=_UNDER_NVSHARE if scene.shared else (),
        )
        for program in scene.programs
    ]
    try:
        _watch(console, node, scene, runs)
        for number, (program, run) in enumerate(zip(scene.programs, runs, strict=True)):
            first = number == 0
            table.add_row(
                scene.title if first else "",
                "yes" if scene.shared else "no",
                program.workload.removeprefix("pytorch-"),
                str(program.gpu),
                *_outcome(run),
                scene.remark if first else "",
                end_section=number == len(runs) - 1,
            )
    finally:
        for run in runs:
            run.stop()


def _outcome(run: Run) -> tuple[str, str]:
    try:
        result = run.result()
    except NvshareError as error:
        return "refused", _error_name(error)
    return f"{result.seconds:.1f} s", f"{result.iterations_per_s:.2f}"


def _error_name(error: NvshareError) -> str:
    """Say in words what the driver answered: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY."""
    return (error.why or "").partition("CUDA_ERROR_")[2].replace("_", " ").lower()


def _watch(console: Console, node: Node, scene: Scene, runs: Sequence[Run]) -> None:
    """Show how far everybody is, until all have ended. The node counts finished kernels."""
    columns = (TextColumn("  {task.description:<24}"), BarColumn(40), MofNCompleteColumn())
    console.print(f"[bold]{scene.title}[/bold]")
    with Progress(*columns, console=console) as progress:
        bars = {
            run.process.pid: progress.add_task(f"{program.workload}", total=program.iterations)
            for program, run in zip(scene.programs, runs, strict=True)
        }
        while any(run.process.poll() is None for run in runs):
            _update(progress, bars, node)
            time.sleep(_LOOK_S)
        for program, run in zip(scene.programs, runs, strict=True):
            if run.process.returncode == 0:
                progress.update(bars[run.process.pid], completed=program.iterations)


def _update(progress: Progress, bars: dict[int, TaskID], node: Node) -> None:
    for process in read_report(node.folder).processes:
        if process.pid in bars:
            done = sum(account.kernels for account in process.gpus)
            progress.update(bars[process.pid], completed=done)
