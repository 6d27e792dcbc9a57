"""``nvshare bench latency``: how long programs that want a GPU now and then wait for it.

The results include what other programs lose by that, and what would be possible at best.
"""

from collections.abc import Iterator, Sequence

import click

from nvshare.cli.lab.bench import latency_runs, latency_simulation
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.bench.latency_cases import CASES, MODEL, Case
from nvshare.errors import BadInputError


@registered("latency")
def measure_all() -> Iterator[Line]:
    """Yield a line for every case, played and simulated."""
    yield from on_emulator(CASES)
    yield from on_simulator(CASES)


def on_emulator(cases: Sequence[Case], seconds: float | None = None) -> Iterator[Line]:
    """Run the cases on an emulated node."""
    for case in cases:
        line = latency_runs.run(case, seconds).line()
        yield {**line, "on": "emulator", "gpus": MODEL, "speed": case.speed}


def on_simulator(cases: Sequence[Case], seconds: float | None = None) -> Iterator[Line]:
    """Simulate the cases."""
    for case in cases:
        line = latency_simulation.simulate_case(case, seconds).line()
        yield {**line, "on": "simulator", "gpus": MODEL, "speed": None}


def choose(names: Sequence[str]) -> list[Case]:
    """Return the cases of these names, with all priorities; without names, all cases."""
    known = dict.fromkeys(case.name for case in CASES)
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no case {name}", do=f"choose one of {', '.join(known)}")
    return [case for case in CASES if not names or case.name in names]


@click.command()
@click.option("--on", type=click.Choice(["emulator", "simulator"]), default="emulator")
@click.option(
    "--case", "names", multiple=True, metavar="NAME", help="Run only this case; may be repeated."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    help="Emulated seconds to measure. Default: on the simulator an hour or less, else minutes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def latency(on: str, names: tuple[str, ...], seconds: float | None, as_json: bool) -> None:
    """Measure how long programs that want a GPU now and then wait for it."""
    chosen = choose(names)
    measure = on_emulator if on == "emulator" else on_simulator
    show("latency", lambda: measure(chosen, seconds), as_json)
