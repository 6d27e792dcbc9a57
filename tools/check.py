"""``make check``: what can be known within half a minute: lint, types, tests that compile nothing.

    python -m tools.check [AREA…]     # areas of tools/areas.toml; without any, all
    python -m tools.check --table     # the table of CONTRIBUTING.md

The tools run beside the tests, one after the other. What they print is shown only if they object.
It is no replacement for `make lint test`.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tools" / "areas.toml"
BIN = Path(sys.executable).parent
# So many parts of the tests run at the same time: one more than there are processors, because some
# tests wait.
WORKERS = min((os.cpu_count() or 1) + 1, 6)
# As in `make lint`.
TYPED = (
    *("src", "tests", "protocol", "tools"),
    *("native/headers", "native/interposer/generator", "native/tests/victims"),
    "lab/emulator/exports",
)


@dataclass(frozen=True)
class Area:
    """A part of the tree, as tools/areas.toml describes it."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    then: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    command: tuple[str, ...]
    seconds: float
    code: int
    said: str


def areas() -> dict[str, Area]:
    """Read the table."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: Area(name, *(tuple(row[key]) for key in ("files", "tests", "then")))
        for name, row in table.items()
    }


def markdown() -> str:
    """Return the table as CONTRIBUTING.md shows it."""
    lines = ["| changed | run | and before handing it in |", "|---|---|---|"]
    for area in areas().values():
        files = ", ".join(f"`{file}`" for file in area.files if not file.startswith("tests/"))
        lines.append(f"| {files} | `make check ONLY={area.name}` | {_later(area.then)} |")
    return "\n".join(lines) + "\n"


def _later(then: Sequence[str]) -> str:
    """Return the commands to run later: the folders of tests as one command, and the others."""
    tests = [step for step in then if step.startswith("tests/")]
    commands = [f"`{step}`" for step in then if step not in tests]
    return ", ".join(commands + ([f'`make test ARGS="{" ".join(tests)}"`'] if tests else []))


def lint_commands(chosen: Sequence[Area]) -> list[tuple[str, ...]]:
    """Return the commands that check the sources of these areas."""
    files = sorted({file for area in chosen for file in area.files if (ROOT / file).exists()})
    python = [file for file in files if _has(file, "*.py")]
    c = [str(path) for file in files for path in _found(file, "*.[ch]")]
    commands = [
        ("ruff", "check", "--quiet", *python),
        ("ruff", "format", "--check", "--quiet", *python),
        ("lint-imports",),
    ]
    # The types of a file depend on others, so all files are checked; mypy caches unchanged ones.
    commands.append(("mypy", "--strict", *TYPED))
    if c:
        commands.append(("clang-format", "--dry-run", "--Werror", *c))
    if any(area.name == "tools" for area in chosen):
        commands.append(("zizmor", "--offline", "--quiet", "--strict-collection", ".github"))
    return commands


def commands_of_tests(chosen: Sequence[Area]) -> list[tuple[str, ...]]:
    """Return the commands that run the tests of these areas at the same time.

    Each collects its own files only. To collect all of them takes as long as to run a third, and
    longer in a fresh clone, where nothing is compiled yet.
    """
    tests = list(dict.fromkeys(test for area in chosen for test in area.tests))
    quick = ("python", "-m", "pytest", "-q", "-m", "not slow and not timed")
    if len(chosen) == 1:
        return [(*quick, *tests)]
    # They would all write to the same cache of failed tests.
    return [(*quick, "-p", "no:cacheprovider", *part) for part in _dealt(tests, WORKERS)]


def _dealt(tests: Sequence[str], number: int) -> list[list[str]]:
    """Deal all files of tests to so many parts, which are of about the same size."""
    files = {str(path.relative_to(ROOT)) for test in tests for path in _found(test, "test_*.py")}
    sizes = {file: (ROOT / file).stat().st_size for file in files}
    parts: list[list[str]] = [[] for _ in range(number)]
    for file in sorted(files, key=lambda file: (-sizes[file], file)):
        min(parts, key=lambda part: sum(sizes[one] for one in part)).append(file)
    return parts


def run(command: tuple[str, ...]) -> Done:
    """Run a program of the environment."""
    began = time.monotonic()
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return Done(command, time.monotonic() - began, done.returncode, done.stdout)


def check(chosen: Sequence[Area]) -> int:
    """Check these areas, and print the results. Return 1 if a check fails."""
    began = time.monotonic()
    with ThreadPoolExecutor(WORKERS) as beside:
        tests = [beside.submit(run, command) for command in commands_of_tests(chosen)]
        failed = [not _shown(run(command)) for command in lint_commands(chosen)]
        failed += [not _shown(part.result()) for part in tests]
    print(f"{time.monotonic() - began:.1f} s")
    return int(any(failed))


def _shown(done: Done) -> bool:
    what = " ".join(done.command[:3])
    if done.code == 0:
        last = done.said.strip().splitlines()[-1:] or [""]
        print(f"ok      {done.seconds:5.1f} s  {what}  {last[0].strip('= ')}", flush=True)
        return True
    print(done.said)
    print(f"FAILED  {done.seconds:5.1f} s  {what}", flush=True)
    return False


def _has(file: str, pattern: str) -> bool:
    return bool(_found(file, pattern))


def _found(file: str, pattern: str) -> list[Path]:
    path = ROOT / file
    if path.is_dir():
        return sorted(path.rglob(pattern))
    return [path] if path.match(pattern) else []


def main() -> int:
    """Read the arguments."""
    known = areas()
    parser = argparse.ArgumentParser(prog="make check", description=__doc__.split("\n\n")[0])
    parser.add_argument("area", nargs="*", metavar="AREA", help=", ".join(known))
    parser.add_argument("--table", action="store_true", help="print the table of CONTRIBUTING.md")
    given = parser.parse_args()
    if given.table:
        print(markdown(), end="")
        return 0
    for name in given.area:
        if name not in known:
            parser.error(f"there is no area {name!r}; the areas are {', '.join(known)}")
    return check([known[name] for name in given.area] or list(known.values()))


if __name__ == "__main__":
    sys.exit(main())
