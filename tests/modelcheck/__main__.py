"""``make model``: explores everything that can happen to a few programs on one GPU, or on two.

python -m tests.modelcheck --clients 3 --crashes 2
python -m tests.modelcheck --gangs "aabb aBaB" --late 1 --crashes 0
"""

import sys
from pathlib import Path

import click

from .cases import cases, gang_cases
from .journal import play
from .search import Found, Search
from .telling import tell
from .waiting import Waits


@click.command()
@click.option("--clients", default=3, show_default=True, help="Number of programs.")
@click.option("--crashes", default=2, show_default=True, help="Number of faults.")
@click.option(
    "--late", default=0, show_default=True, help="How often a program or a message is late."
)
@click.option(
    "--rest", is_flag=True, help="Programs also rest where there are faults or three programs."
)
@click.option(
    "--gangs",
    help="Gangs on two GPUs instead: a letter for each rank, a capital if the first one is on the "
    "second GPU, and a dot or a colon for a program alone on the first or second one.",
)
@click.option("--most", default=0, help="Stop after this many worlds; 0: never.")
@click.option(
    "--journal", type=click.Path(path_type=Path), help="File for the journal of a counterexample."
)
def main(
    clients: int,
    crashes: int,
    late: int,
    rest: bool,
    gangs: str | None,
    most: int,
    journal: Path | None,
) -> None:
    """Look at all cases, and say what was found."""
    if gangs:
        chosen = gang_cases(gangs, crashes, late)
    else:
        chosen = cases(clients, crashes, late, rests=rest)
    for case in chosen:
        found = Search(case, most=most).run()
        report(found, str(case))
        if found.problem:
            fail(found, journal)
        # Equal programs differ in when they connect.
        for place in range(len(case.sizes)):
            if case.faults > 1 or case.any_order:
                continue
            found = Search(case, most=most, waits=Waits(place)).run()
            report(found, f"{case}; process {place + 1} waits {found.longest_wait:g} s at most")
            if found.problem:
                fail(found, journal)


def report(found: Found, what: str) -> None:
    """Print how much was searched."""
    ends = "CUT SHORT" if found.is_cut else f"depth {found.depth}"
    left = (
        f", {found.left_out} steps left out because too many messages would wait"
        if found.left_out
        else ""
    )
    click.echo(
        f"{what}: {found.worlds} worlds, {found.steps} steps, {ends}{left}, {found.seconds:.0f} s"
    )


def fail(found: Found, journal: Path | None) -> None:
    """Print the steps that led to a violation."""
    for line in tell(found.case, found.path, found.problem):
        click.echo(line)
    problem, lines = play(found.case, found.path)
    if problem != found.problem:
        click.echo(f"A core with its full history gives another result: {problem or 'no problem'}.")
    if journal is not None:
        remarks = [f"# {found.problem}"]
        journal.write_text("\n".join([*remarks, *lines]) + "\n", encoding="utf-8")
        click.echo(f"The events and orders of the last daemon are in {journal}.")
    sys.exit(1)


if __name__ == "__main__":
    main()
