"""The scenarios of `nvshare bench all`: each in the simulator and for real, and both compared."""

from collections.abc import Iterator

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.play import on_emulator, on_simulator
from nvshare.lab.sim.catalog import known_scenarios, load_known
from nvshare.lab.sim.figures import Figures

# Those measured with earlier implementations; the hardest case; and one of each other kind.
REALLY = (
    *("T1", "T2a", "T2s", "T3", "T4", "T5", "T6", "X1", "X2", "X3", "eight-on-one"),
    *("mixed", "growing", "over-2x-4", "come-and-go"),
)
# Hours of many programs: they have tests of their own, and would take longer than all others.
LEFT_OUT = ("cluster-day", "ten-hours")
TOLERANCE = 0.01
# Six programs start at the same moment: which is first decides their grouping, and is random.
TOLERANCES = {"mixed": 0.05}


@registered("scenario")
def measure() -> Iterator[Line]:
    """Yield one line per scenario and place, and one for each pair of places."""
    for name in known_scenarios():
        if name in LEFT_OUT:
            continue
        told = load_known(name)
        simulated = on_simulator(told, told.name)
        yield simulated.as_json()
        if name in REALLY:
            emulated = on_emulator(told, told.name, speed=told.speed)
            yield emulated.as_json()
            yield compare(emulated, simulated)


def compare(emulated: Figures, simulated: Figures) -> Line:
    """Return the difference between the two."""
    difference = emulated.makespan_s / simulated.makespan_s - 1
    tolerance = TOLERANCES.get(emulated.scenario, TOLERANCE)
    return {
        "agreement": emulated.scenario,
        "emulator_s": round(emulated.makespan_s, 3),
        "simulator_s": round(simulated.makespan_s, 3),
        "difference": round(difference, 4),
        "within": abs(difference) <= tolerance,
        "tolerance": tolerance,
    }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def scenarios(as_json: bool) -> None:
    """Play the known scenarios, in the simulator and on the emulator."""
    show("scenario", measure, as_json)
