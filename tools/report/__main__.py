"""``make report``: the page of one run, in build/report.

    python -m tools.report [--quick | --from results.jsonl] [--out FOLDER]

Without a file every benchmark is run, which takes about as long as `make bench`.
"""

import argparse
import datetime
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import nvshare
from nvshare.errors import NvshareError
from tools.report.chart import draw
from tools.report.lines import read
from tools.report.page import About, html, markdown
from tools.report.running import FULL, QUICK, carry_out, commands_of, machine_of
from tools.report.topics import sections

ROOT = Path(__file__).parents[2]
RESULTS = "results.jsonl"


def write(results: Path, out: Path) -> Path:
    """Write the page of some results into a folder; return the path of its HTML."""
    found = sections(read(results))
    measured = tuple(f"{section.command} --json" for section in found if section.is_measured)
    about = _about(results, measured)
    for section in found:
        if section.chart:
            (out / f"{section.chart.name}.svg").write_text(draw(section.chart), encoding="utf-8")
    (out / "report.md").write_text(markdown(found, about), encoding="utf-8")
    page = out / "report.html"
    page.write_text(html(found, about), encoding="utf-8")
    return page


def _about(results: Path, measured: tuple[str, ...]) -> About:
    modified = datetime.datetime.fromtimestamp(results.stat().st_mtime, tz=datetime.timezone.utc)
    machine = machine_of(results)
    named = {"cpu": "processor", "cores": "cores", "kernel": "kernel"}
    facts = [(named.get(key, key), value) for key, value in machine.items()]
    facts += [
        ("measured", f"{modified:%Y-%m-%d %H:%M} UTC"),
        ("nvshare", f"{nvshare.__version__} {_commit()}".strip()),
        ("Python", platform.python_version()),
    ]
    return About(tuple(facts), commands_of(results) or measured)


def _commit() -> str:
    """Return the commit of the tree, if there is one."""
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run(
        [git, "describe", "--always", "--dirty"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return f"({done.stdout.strip()})" if done.returncode == 0 else ""


def main() -> int:
    """Read the arguments; run benchmarks if there are no results yet."""
    parser = argparse.ArgumentParser(prog="python -m tools.report")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quick", action="store_true", help="run a short set of benchmarks, in two minutes"
    )
    which.add_argument(
        "--from",
        dest="results",
        type=Path,
        metavar="FILE",
        help="use these results of `nvshare bench --json`",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "report", metavar="FOLDER")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        if given.results is None:
            given.results = given.out / RESULTS
            carry_out(QUICK if given.quick else FULL, given.results)
        print(write(given.results, given.out))
    except NvshareError as error:
        print(f"make report: {error.in_a_line}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
