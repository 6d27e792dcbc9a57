"""``make chaos MINUTES=30 [SEED=…]``: faults of all kinds, under programs that check their data.

    python -m tests.chaos.run [--minutes N] [--seed N] [--small] [--kinds LIST] [--quiet]

Exits with 1 if anything was wrong, and says how to repeat the run.
"""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

from .campaign import Result, run_campaign
from .plan import KINDS
from .processes import ending_with_us
from .stage import HAS_MOUNTS

ROOT = Path(__file__).parents[2]
_LAST = 25


def main() -> int:
    """Run a campaign, and say how it went."""
    parser = argparse.ArgumentParser(prog="make chaos")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--small", action="store_true", help="fewer programs, as in make test")
    parser.add_argument("--kinds", help="only these kinds of faults, separated by commas")
    parser.add_argument("--quiet", action="store_true", help="print only the result")
    options = parser.parse_args()
    if os.getuid() == 0 and not os.environ.get(HAS_MOUNTS):
        return _with_own_mounts()
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    kept = ROOT / "build" / "chaos" / (f"{seed}-small" if options.small else str(seed))
    print(f"seed {seed}, for {options.minutes:g} minutes; logs are in {kept}", flush=True)
    result = run_campaign(
        seed,
        options.minutes * 60,
        kept,
        kinds=options.kinds.split(",") if options.kinds else list(KINDS),
        is_shown=not options.quiet,
        is_small=options.small,
    )
    again = f"make chaos MINUTES={options.minutes:g} SEED={seed}"
    again += " SMALL=1" if options.small else ""
    again += f" KINDS={options.kinds}" if options.kinds else ""
    _tell(result, again, kept)
    return int(bool(result.failures))


def _with_own_mounts() -> int:
    """Run in a mount namespace: full disks there disturb nothing else."""
    return subprocess.run(
        [
            *(*ending_with_us(), "/usr/bin/unshare"),
            *("--mount", "--propagation=private", "--fork", "--kill-child"),
            *(sys.executable, "-m", "tests.chaos.run", *sys.argv[1:]),
        ],
        env={**os.environ, HAS_MOUNTS: "1"},
    ).returncode


def _tell(result: Result, again: str, kept: Path) -> None:
    print(
        f"{result.acts} acts with {result.faults} faults, {result.daemons} daemons; programs ran "
        f"{result.rounds} kernels, finished {result.finished} times, and were refused memory "
        f"{result.refused} times for a known reason; a GPU was idle without a known reason for "
        f"{result.longest_idle:.2f} s at most, in {result.watched:.0f} s without faults that "
        "explain it"
    )
    if not result.failures:
        return
    lines = (kept / "journal.txt").read_text(encoding="utf-8").splitlines()
    print("\nThe last steps:", *lines[-_LAST:], sep="\n  ")
    print("\nFailures:", *result.failures, sep="\n  ")
    print(f"\nTo repeat the run: {again}. Logs are in {kept}")


if __name__ == "__main__":
    sys.exit(main())
