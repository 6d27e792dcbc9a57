"""The command: starts the stages, shows them, and sums up."""

import click
from rich.console import Console

from nvshare.cli.json_output import show_json
from nvshare.cli.lab.demo import result, view
from nvshare.cli.lab.demo.stages import open_stages, scenario
from nvshare.cli.output import console

_SPEED = 10.0


@click.command()
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let each job do N iterations instead of 4000.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=_SPEED,
    show_default=True,
    metavar="N",
    help="Emulated seconds per real second.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object for the run with nvshare, and one for the run without.",
)
def demo(iterations: int | None, speed: float, as_json: bool) -> None:
    """Show four jobs of 12 GB on two emulated GPUs of 16 GB, with nvshare and without."""
    # Progress is shown even if the result is printed as JSON.
    place = Console(stderr=True) if as_json else console()
    place.print(
        "Four jobs of 12 GB share two Tesla T4s of 16 GB, once with nvshare and once with unified "
        f"memory alone.\nThe GPUs are emulated. {speed:g} emulated seconds pass in a real second.",
        soft_wrap=True,
    )
    with open_stages(scenario(iterations), speed) as stages:
        with view.watched(place, stages) as look:
            stages.go_on(look)
        shared, unscheduled = stages.figures()
    if as_json:
        show_json(shared.as_json())
        show_json(unscheduled.as_json())
        return
    place.print(result.draw(shared, unscheduled))
    if unscheduled.more.get("extrapolated"):
        place.print(
            "Values with ~ are extrapolated: the jobs without nvshare were stopped when the jobs "
            "with nvshare were done."
        )
