"""``nvshare simulate``: try a way of sharing out on GPUs that are only reckoned with."""

from pathlib import Path

import click

from nvshare.cli import completing
from nvshare.cli.figures_table import draw
from nvshare.cli.output import show, show_json
from nvshare.errors import BadInputError
from nvshare.sim import timeline
from nvshare.sim.catalog import find, known_scenarios, load_known
from nvshare.sim.engine import Outcome
from nvshare.sim.engine import simulate as run
from nvshare.sim.report import summarise
from nvshare.sim.scenario import Scenario


@click.command()
@click.argument("scenario", required=False, shell_complete=completing.scenarios)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="P",
    shell_complete=completing.policies,
    help="Share by this mode, policy, or both (serial, fifo, auto/fifo) instead of the scenario's "
    "own. Several times: compare them.",
)
@click.option("--seed", default=0, show_default=True, help="What chance draws from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture.")
@click.option("--list", "listed", is_flag=True, help="List the known scenarios.")
def simulate(
    scenario: str | None,
    policies: tuple[str, ...],
    seed: int,
    as_json: bool,
    svg: Path | None,
    listed: bool,
) -> None:
    """Simulate SCENARIO: the name of a known one, or a TOML file.

    The scheduler is the real one. GPUs and programs are reckoned with: an hour takes no time.
    """
    if listed:
        _list(as_json)
        return
    if scenario is None:
        raise BadInputError(
            "no scenario was given",
            do="give a file or a name; `nvshare simulate --list` shows the names",
        )
    if svg and len(policies) > 1:
        raise BadInputError("a picture shows one policy only", do="give --policy once with --svg")
    told = find(scenario, seed)
    outcomes = [
        (label, run(choice, seed=seed, picture=svg is not None))
        for label, choice in _choices(told, policies)
    ]
    _show(outcomes, as_json)
    if svg:
        _write(svg, timeline.draw(outcomes[0][1]))


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


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"the picture {path} cannot be written", why=error.strerror, do="give another path"
        ) from error


def _list(as_json: bool) -> None:
    for name in known_scenarios():
        title = load_known(name).title
        if as_json:
            show_json({"scenario": name, "title": title})
        else:
            click.echo(f"{name:16}{title}")
