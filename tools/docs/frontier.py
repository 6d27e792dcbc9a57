"""Draws what `nvshare bench latency --mixes` says of rules: waits against the trainers' part.

    python -m tools.docs.frontier [--x FIGURE] [--y FIGURE] [--out SVG] [RULE=]RESULTS.jsonl …

Each summary line of a file is a point. Its label is the rule, and the settings that were changed.
Points of one rule are joined, and those of the set `design` are hollow.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nvshare.cli.lab.bench.mix_table import BARS
from tools.docs.scatter import Axis, Point, draw

_LIMITS = {bar.key: bar.limit for bar in BARS}
# The part of the mixes that have to be above the bar leaves 5 % of them below it.
_FAIR = 0.95
X = {
    "equal_part_p5": Axis(
        "equal part of the worst-off trainer, 5 % quantile of the mixes", _FAIR, is_least=True
    ),
    "equal_part_least": Axis("equal part of the worst-off trainer of all mixes"),
    "beyond_floor_mean": Axis(
        "loss of the trainers beyond the floor, mean of the mixes",
        _LIMITS["beyond_floor_mean"],
        is_percent=True,
    ),
    "others_loss": Axis("loss of the trainers, mean of the mixes", is_percent=True),
}
Y = {
    f"{what}_{part}_to_bound": Axis(
        f"{what} ÷ bound, {part}, geometric mean of the mixes",
        _LIMITS.get(f"{what}_{part}_to_bound"),
    )
    for what, part in (("wait", "p50"), ("wait", "p95"), ("delay", "p95"))
}


def points_of(rule: str, lines: Sequence[dict[str, Any]], x: str, y: str) -> Iterator[Point]:
    """Yield a point for each summary of a set that has both figures."""
    for line in lines:
        if "set" not in line or "mixes" not in line or line[y] is None:
            continue
        settings = ", ".join(f"{name}={value}" for name, value in line["settings"].items())
        label = ", ".join(part for part in (rule, settings) if part) or "defaults"
        yield Point(line[x], line[y], label, rule, hollow=line["set"] == "design")


def read(text: str) -> list[dict[str, Any]]:
    """Return the lines of a file of results."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def picture(files: Sequence[tuple[str, str]], x: str, y: str) -> str:
    """Return the picture of the results of rules: their names, and the texts of their files."""
    points = [one for rule, text in files for one in points_of(rule, read(text), x, y)]
    if not points:
        raise SystemExit("no file has a summary of mixes: `nvshare bench latency --mixes N --json`")
    kinds = {one.hollow for one in points}
    note = (
        "hollow: mixes that rules were tuned with; filled: unseen ones"
        if kinds == {True, False}
        else ""
    )
    return draw("Waits and the part of the trainers", points, X[x], Y[y], note)


def main(words: Sequence[str] | None = None) -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(prog="tools.docs.frontier")
    parser.add_argument("--x", choices=X, default="equal_part_p5")
    parser.add_argument("--y", choices=Y, default="wait_p95_to_bound")
    parser.add_argument("--out", type=Path, help="default: standard output")
    parser.add_argument("files", nargs="+", metavar="[RULE=]RESULTS.jsonl")
    told = parser.parse_args(words)
    named = [("", one) if "=" not in one else tuple(one.split("=", 1)) for one in told.files]
    texts = [(rule, Path(path).read_text(encoding="utf-8")) for rule, path in named]
    drawn = picture(texts, told.x, told.y)
    if told.out is None:
        print(drawn, end="")
    else:
        told.out.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
