"""A small fault campaign, beside all other tests. `make chaos` is the real one.

For a longer one set NVSHARE_CHAOS_MINUTES=10, and NVSHARE_CHAOS_SEED to another seed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MINUTES = float(os.environ.get("NVSHARE_CHAOS_MINUTES", "2"))
SEED = os.environ.get("NVSHARE_CHAOS_SEED", "1")


@pytest.mark.timeout(60 * MINUTES + 400)
def test_whatever_goes_wrong_results_are_right_and_everybody_goes_on() -> None:
    command = ("--small", "--quiet", "--minutes", str(MINUTES), "--seed", SEED)
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.run", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " faults, " in done.stdout
