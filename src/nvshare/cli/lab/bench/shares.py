"""``nvshare bench shares``: whether programs get their share of a GPU.

The GPU itself counts what they get, not the daemon.
"""

from collections.abc import Iterator, Sequence

import click

from nvshare.cli.lab.bench import share_runs, share_simulation
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.bench.share_cases import CASES, MODEL, Case
from nvshare.errors import BadInputError

SECONDS = 30.0


@registered("shares")
def measure_all() -> Iterator[Line]:
    """Yield a line for every case that takes no longer than others, and for all if simulated."""
    yield from on_emulator([case for case in CASES if not case.is_long], SECONDS)
    yield from on_simulator(CASES, SECONDS)


def on_emulator(cases: Sequence[Case], seconds: float) -> Iterator[Line]:
    """Run the cases on an emulated node."""
    about = {"on": "emulator", "gpus": MODEL, "speed": share_runs.SPEED}
    for batch in share_runs.batches(cases):
        for got in share_runs.run(batch, seconds):
            yield {**got.line(), **about}


def on_simulator(cases: Sequence[Case], seconds: float) -> Iterator[Line]:
    """Simulate the cases."""
    for case in cases:
        line = share_simulation.simulate_case(case, seconds).line()
        yield {**line, "on": "simulator", "gpus": MODEL, "speed": None}


def choose(names: Sequence[str], on: str) -> list[Case]:
    """Return the cases of these names; without names, all but the very long ones."""
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no case {name}", do=f"choose of {', '.join(known)}")
    if names:
        return [known[name] for name in names]
    return [case for case in CASES if on == "simulator" or not case.is_long]


@click.command()
@click.option("--on", type=click.Choice(["emulator", "simulator"]), default="emulator")
@click.option(
    "--case", "names", multiple=True, metavar="NAME", help="Run only this case; may be repeated."
)
@click.option(
    "--seconds",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Measure at least this long.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def shares(on: str, names: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Measure the share of a GPU that programs get, and compare it with the share that was set."""
    chosen = choose(names, on)
    measure = on_emulator if on == "emulator" else on_simulator
    show("shares", lambda: measure(chosen, seconds), as_json)
