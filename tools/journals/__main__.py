"""The two commands: see the package."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools.journals.comparing import compare
from tools.journals.courses import COURSES

ROOT = Path(__file__).parents[2]
RECORDER = Path(__file__).parent / "recorder"


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.journals")
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=(*COURSES, []), metavar="NAME")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to record")
    told = parser.parse_args()
    names = told.names or list(COURSES)
    if told.command == "record":
        return max(record(told.tree, told.folder.absolute() / name, name) for name in names)
    return max(compare(told.folder / name) for name in names)


def record(tree: Path, folder: Path, name: str) -> int:
    """Run a course of a checkout, and keep its journals."""
    folder.mkdir(parents=True)
    print(f"{name} ...", flush=True)
    environment = {
        **os.environ,
        # Hypothesis tries the same histories each time.
        "CI": "true",
        "NVSHARE_JOURNALS": str(folder),
        "PYTHONPATH": str(RECORDER),
    }
    command = [str(tree.absolute() / ".venv" / "bin" / "python"), *COURSES[name]]
    return subprocess.run(command, cwd=tree, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
