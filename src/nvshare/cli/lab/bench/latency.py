"""``nvshare bench latency``: how long programs that want a GPU now and then wait for it.

The results include what other programs lose by that, and what would be possible at best.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click
from pydantic import ValidationError

from nvshare.cli import completing
from nvshare.cli.lab.bench import latency_runs, latency_simulation, mix_runs, mix_table
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.bench.latency_cases import CASES, MODEL, Case
from nvshare.cli.lab.bench.mixes import SETS, choose_mixes
from nvshare.cli.output import show as show_text
from nvshare.cli.set import parse_changes
from nvshare.errors import BadInputError
from nvshare.settings import DeviceSettings
from nvshare.validation import describe


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
        line = latency_simulation.simulate_nodes(case, seconds).line()
        yield {**line, "on": "simulator", "gpus": MODEL, "speed": None}


def choose(names: Sequence[str]) -> list[Case]:
    """Return the cases of these names, with all priorities; without names, all cases."""
    known = dict.fromkeys(case.name for case in CASES)
    for name in names:
        if name not in known:
            raise BadInputError(f"there is no case {name}", do=f"choose one of {', '.join(known)}")
    return [case for case in CASES if not names or case.name in names]


def with_settings(case: Case, settings: Mapping[str, Any]) -> Case:
    """Return a case with some settings changed; its own ones stay unless they are among them."""
    return replace(case, settings=tuple({**dict(case.settings), **settings}.items()))


def parse_settings(changes: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a GPU that are to be changed, by name."""
    told = parse_changes(changes)
    try:
        values = DeviceSettings().changed(told).model_dump()
    except ValidationError as error:
        raise BadInputError("; ".join(describe(error)), do="see docs/daemon.md") from error
    lab = {name: values["lab"][name] for name in told.get("lab", {})}
    return {name: values[name] for name in told if name != "lab"} | ({"lab": lab} if lab else {})


def measure_mixes(
    sets: Mapping[str, Sequence[Case]], seconds: float | None, jobs: int, as_json: bool
) -> None:
    """Simulate mixes, and print a line for each, and for each set its figures."""
    for which, chosen in sets.items():
        lines = partial(mix_runs.run, which, chosen, seconds, jobs)
        if as_json:
            show("mixes", lines, as_json)
        else:
            for line in lines():
                is_mix = "mix" in line
                show_text(mix_table.short(line) if is_mix else mix_table.table(line))


@click.command()
@click.option(
    "--on",
    type=click.Choice(["emulator", "simulator"]),
    help="Default: emulator; for mixes, simulator.",
)
@click.option(
    "--case", "names", multiple=True, metavar="NAME", help="Run only this case; may be repeated."
)
@click.option(
    "--mixes",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Simulate N random mixes of notebooks and trainers in place of the cases.",
)
@click.option(
    "--set",
    "which",
    type=click.Choice([*SETS, "both"]),
    default="both",
    show_default=True,
    help="With --mixes: the half of the mixes. A rule is tuned with one, and judged by the other.",
)
@click.option(
    "--mix", "mix_names", multiple=True, metavar="NAME", help="Simulate only this mix: design-17."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Simulate this many mixes at a time. Default: one per processor.",
)
@click.option(
    "--set-gpu",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completing.settings,
    help="Change a setting of the GPU; may be repeated.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    help="Emulated seconds to measure, on each node. Default: minutes, depending on the case.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def latency(
    on: str | None,
    names: tuple[str, ...],
    count: int | None,
    which: str,
    mix_names: tuple[str, ...],
    jobs: int | None,
    changes: tuple[str, ...],
    seconds: float | None,
    as_json: bool,
) -> None:
    """Measure how long programs that want a GPU now and then wait for it."""
    settings = parse_settings(changes)
    if count or mix_names:
        if names or on == "emulator":
            raise BadInputError(
                "mixes run only in the simulator, and not together with cases",
                do="leave out --case and --on emulator",
            )
        chosen_mixes = choose_mixes(count or 0, which, mix_names, settings)
        measure_mixes(chosen_mixes, seconds, jobs or os.cpu_count() or 1, as_json)
        return
    chosen = [with_settings(case, settings) for case in choose(names)]
    measure = on_simulator if on == "simulator" else on_emulator
    show("latency", lambda: measure(chosen, seconds), as_json)
