"""``make fuzz``: every reader gets bytes of all kinds for some time, from the inputs that are kept.

    python -m tests.fuzz.run [--seconds 60] [--only NAME] [--where-possible]

A failing input is in build/fuzz/crashes/NAME afterwards. When the failure is fixed, the input
belongs into tests/fuzz/corpus/NAME, where `make test` tries it from then on.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nvshare.errors import NvshareError
from tests.fuzz import native
from tests.fuzz.inputs import FOLDER, kept, write
from tests.fuzz.readers import READERS
from tests.fuzz.seeds import compiled, made

CRASHES = native.BUILD / "crashes"
# Seconds to end, beyond its time: the last input is tried, and a failing one is shrunk.
_GRACE = 120

# The control API has a test of its own, which makes a given number of requests of each kind.
API = "control-api"
_API_TEST = "tests/integration/daemon/test_openapi.py"

Command = Callable[[str, int], list[str]]


def main() -> int:
    """Fuzz the requested readers; return 1 if any failed."""
    options = _options()
    commands = _commands(options.only, where_possible=options.where_possible)
    began, failed = time.monotonic(), []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = {name: pool.submit(_run, name, make, options.seconds) for name, make in commands}
        for name, job in jobs.items():
            if not job.result():
                failed.append(name)
    print(f"{len(jobs)} readers in {time.monotonic() - began:.0f} s; failed: {failed or 'none'}")
    if failed:
        print(f"failing inputs are in {CRASHES}; correct the error, and keep the input in {FOLDER}")
    return int(bool(failed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="time for each reader")
    parser.add_argument(
        "--only", default="", help="names of readers, separated by commas or spaces"
    )
    parser.add_argument(
        "--where-possible",
        action="store_true",
        help="leave out the readers in C if there is no clang",
    )
    return parser.parse_args()


def _commands(only: str, *, where_possible: bool) -> list[tuple[str, Command]]:
    in_c, in_python = native.targets(), list(READERS)
    known = (*in_c, *in_python, API)
    chosen = only.replace(",", " ").split() or list(known)
    if unknown := [name for name in chosen if name not in known]:
        raise NvshareError(
            f"there is no reader {unknown[0]}", do=f"choose one of {', '.join(known)}"
        )
    if any(name in in_c for name in chosen) and not _prepare(where_possible):
        print("not run here: the readers in C, because there is no clang")
        chosen = [name for name in chosen if name not in in_c]
    return [(name, _fuzz_c if name in in_c else _fuzz_python) for name in chosen]


def _fuzz_api(seconds: int) -> list[str]:
    requests = f"NVSHARE_FUZZ_REQUESTS={2 * seconds}"
    command = [sys.executable, "-m", "pytest", "--quiet", f"--timeout={seconds + _GRACE}"]
    return ["env", requests, *command, _API_TEST]


def _prepare(where_possible: bool) -> bool:
    if not native.has_clang():
        if where_possible:
            return False
        native.install_clang()
    native.build_fuzzers()
    return True


def _fuzz_c(name: str, seconds: int) -> list[str]:
    seeds, new = native.BUILD / "seeds" / name, native.BUILD / "new" / name
    write(seeds, {**compiled(name), **made(name), **kept(name)})
    for folder in (new, CRASHES / name):
        folder.mkdir(parents=True, exist_ok=True)
    return native.fuzzer(name, seconds, [new, seeds], CRASHES / name)


def _fuzz_python(name: str, seconds: int) -> list[str]:
    if name == API:
        return _fuzz_api(seconds)
    return [sys.executable, "-m", "tests.fuzz.python", name, str(seconds)]


def _run(name: str, make: Command, seconds: int) -> bool:
    log = native.BUILD / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    is_good = _has_ended_well(make(name, seconds), log, seconds + _GRACE)
    print(f"{name:14} {_last(log) if is_good else _trouble(log)}", flush=True)
    return is_good


def _has_ended_well(command: list[str], log: Path, seconds: int) -> bool:
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=native.ENVIRONMENT,
            cwd=native.ROOT,
        )
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            file.write(f"\nit did not end within {seconds} s\n".encode())
            return False


def _last(log: Path) -> str:
    """How it ended: each of them says how many inputs there were, or a lower bound."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    words = ("DONE", "inputs", "passed")
    return next((line for line in reversed(lines) if any(w in line for w in words)), "?")


def _trouble(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(["FAILED", *lines[-40:], f"(all of it: {log})"])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NvshareError as error:
        sys.exit(error.in_a_line)
