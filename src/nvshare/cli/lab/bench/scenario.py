"""``nvshare bench scenario``: play a scenario, really on emulated GPUs, or in the simulator."""

from pathlib import Path

import click

from nvshare.cli import completing
from nvshare.cli.json_output import show_json
from nvshare.cli.lab.figures_table import draw_figures
from nvshare.cli.lab.trial.play import on_emulator, on_simulator
from nvshare.cli.lab.trial.programs import DriverPrograms
from nvshare.cli.lab.trial.torch import TorchPrograms
from nvshare.cli.output import show
from nvshare.errors import BadInputError
from nvshare.lab.sim.catalog import find
from nvshare.lab.sim.figures import Figures
from nvshare.lab.sim.scenario import Scenario
from nvshare.launch.preload import ALLOCATIONS, Wishes

# Without scheduling, a scenario is stopped after this many times the ideal.
UNMANAGED_LIMIT = 2.0


@click.command()
@click.argument("name", shell_complete=completing.scenarios)
@click.option("--on", type=click.Choice(["emulator", "simulator"]), default="emulator")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Emulated seconds per real second. Default: the speed that the scenario sets.",
)
@click.option(
    "--mode",
    metavar="P",
    shell_complete=completing.policies,
    help="Share by this mode, policy, or both (serial, fifo, auto/fifo) instead of the scenario's "
    "own.",
)
@click.option(
    "--unmanaged",
    is_flag=True,
    help="Run without nvshare: the programs use unified memory, and the driver moves pages.",
)
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop after SECONDS emulated seconds, and extrapolate. "
    f"Default with --unmanaged: {UNMANAGED_LIMIT:.0f} times the ideal.",
)
@click.option(
    "--torch",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="PYTHON",
    help="Use PyTorch programs, run by this Python, instead of driver API programs.",
)
@click.option(
    "--allocation", type=click.Choice(ALLOCATIONS), help="How the programs' memory is allocated."
)
@click.option(
    "--memory",
    type=click.Choice(["plain", "handles", "pool"]),
    default="plain",
    help="How the programs ask for memory: by cuMemAlloc, cuMemCreate or cuMemAllocAsync.",
)
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def scenario(
    name: str,
    on: str,
    speed: float | None,
    mode: str | None,
    unmanaged: bool,
    limit: float | None,
    torch: Path | None,
    allocation: str | None,
    memory: str,
    seed: int,
    as_json: bool,
) -> None:
    """Play the scenario NAME: a name that `nvshare simulate --list` shows, or a TOML file."""
    if on == "simulator" and (speed or unmanaged or limit or torch or allocation):
        raise BadInputError(
            "--speed, --unmanaged, --limit, --torch and --allocation are for the emulator",
            do="leave them out; `--mode off` simulates programs without scheduling",
        )
    told = find(name, seed)
    label = told.name
    if mode is not None:
        told, label = told.with_policy(mode), f"{label}/{mode}"
    if on == "simulator":
        figures = on_simulator(told, label, seed)
    else:
        figures = _emulate(told, label, speed, unmanaged, limit, seed, torch, allocation, memory)
    if as_json:
        show_json(figures.as_json())
    else:
        show(draw_figures(figures))


def _emulate(
    told: Scenario,
    label: str,
    speed: float | None,
    unmanaged: bool,
    limit: float | None,
    seed: int,
    torch: Path | None,
    allocation: str | None,
    memory: str,
) -> Figures:
    speed = speed or told.speed
    if unmanaged:
        label = f"{label}/unmanaged"
        limit = limit or UNMANAGED_LIMIT * (on_simulator(told, label, seed).ideal_s or 0.0)
    if torch:
        label = f"{label}/torch"
    if allocation:
        label = f"{label}/{allocation}"
    if memory != "plain":
        label = f"{label}/{memory}"
    return on_emulator(
        told,
        label,
        speed=speed,
        managed=not unmanaged,
        limit=limit,
        seed=seed,
        programs=TorchPrograms(torch.absolute(), speed, memory)
        if torch
        else DriverPrograms(memory),
        wishes=Wishes(allocation=allocation),
    )
