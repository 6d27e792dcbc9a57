"""Liars beside real programs on an emulated T4: figures for docs/security.md.

    python -m tools.liars                        # every liar, one after the other
    python -m tools.liars --at-once              # the same, each on a node of its own
    python -m tools.liars --liars memory,moves --seconds 60

Programs of 12 GB take turns. Then a liar is there for five minutes, and then they are by themselves
again. Each prints one line of JSON: for each program, what it has kept of its fair part while the
liar was there (as one more among them), and two turns after its end. The first, ``none``, does not
lie. Exits with 1 where a bar is missed. Times are those of the machine: at another ``--speed``, the
GPU is faster, and neither turns nor patience are shorter.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor

from .kinds import KINDS
from .trial import Plan, play

# The bars: of the fair part beside a liar, and afterwards.
LEAST_BESIDE = 0.8
LEAST_AFTER = 0.95


def main() -> int:
    """Run the liars; print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tools.liars", description=__doc__)
    parser.add_argument(
        "--liars", default=",".join(KINDS), help="kinds of liars, separated by commas"
    )
    parser.add_argument("--honest", type=int, default=2, help="number of honest programs")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long each liar runs")
    parser.add_argument("--turn", type=float, default=10.0, help="length of a turn, in seconds")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--at-once", action="store_true")
    given = parser.parse_args()
    names = given.liars.split(",")
    plan = Plan(given.honest, given.seconds, given.turn, given.speed)
    is_good = True
    with ThreadPoolExecutor(len(names) if given.at_once else 1) as pool:
        for figures in pool.map(lambda name: play(name, plan), names):
            print(json.dumps(figures.as_dict()), flush=True)
            is_good &= figures.beside >= LEAST_BESIDE and figures.after >= LEAST_AFTER
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
