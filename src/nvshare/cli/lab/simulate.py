"""``nvshare simulate``: play a scenario on simulated GPUs."""

from pathlib import Path

import click

from nvshare.cli import completing
from nvshare.cli.json_output import show_json
from nvshare.cli.lab.figures_table import draw
from nvshare.cli.output import show
from nvshare.cli.trace_file import write_chrome, write_picture
from nvshare.errors import BadInputError
from nvshare.lab.sim.catalog import find, known_scenarios, load_known
from nvshare.lab.sim.engine import Outcome
from nvshare.lab.sim.engine import simulate as run
from nvshare.lab.sim.report import summarise
from nvshare.lab.sim.scenario import Scenario


@click.command()
@click.argument("scenario", required=False, shell_complete=completing.scenarios)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="P",
    shell_complete=completing.policies,
    help="Share by this mode, policy, or both (serial, fifo, auto/fifo) instead of the scenario's "
    "own. Give it several times to compare.",
)
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a picture of the simulation.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a trace of the simulation, for Perfetto or Chrome.",
)
@click.option("--list", "listed", is_flag=True, help="List the known scenarios.")
def simulate(
    scenario: str | None,
    policies: tuple[str, ...],
    seed: int,
    as_json: bool,
    svg: Path | None,
    trace: Path | None,
    listed: bool,
) -> None:
    """Simulate SCENARIO: the name of a known one, or a TOML file.

    The scheduler is the real one. GPUs and programs are simulated, in virtual time.
    """
    if listed:
        _list(as_json)
        return
    if scenario is None:
        raise BadInputError(
            "no scenario was given",
            do="give a file or a name; `nvshare simulate --list` shows the names",
        )
    told = find(scenario, seed)
    outcomes = [
        (label, run(choice, seed=seed, picture=bool(svg or trace)))
        for label, choice in _choices(told, policies)
    ]
    _show(outcomes, as_json)
    if svg or trace:
        recordings = [outcome.recording(label) for label, outcome in outcomes]
        title = told.title or told.name
        if svg:
            write_picture(svg, recordings, title)
        if trace:
            write_chrome(trace, recordings, title)


def _choices(told: Scenario, policies: tuple[str, ...]) -> list[tuple[str, Scenario]]:
    if not policies:
        return [(told.name, told)]
    return [(f"{told.name}/{policy}", told.with_policy(policy)) for policy in policies]


def _show(outcomes: list[tuple[str, Outcome]], as_json: bool) -> None:
    summaries = [summarise(outcome, label) for label, outcome in outcomes]
    if as_json:
        for summary in summaries:
            show_json(summary.as_json())
    else:
        show(draw(summaries))


def _list(as_json: bool) -> None:
    for name in known_scenarios():
        title = load_known(name).title
        if as_json:
            show_json({"scenario": name, "title": title})
        else:
            click.echo(f"{name:16}{title}")
