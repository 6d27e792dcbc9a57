"""``make test-torch``: PyTorch itself on emulated GPUs, without nvshare and under it.

    python -m tests.pytorch.run [--where-possible] [ARGUMENTS OF PYTEST]

Makes missing environments first. It is an error if that is impossible. With --where-possible every
test is skipped instead, and pytest says so and why.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.again import judged, remembering
from tests.pytorch.environment import VERSIONS, ImpossibleError, make

_WHERE_POSSIBLE = "--where-possible"
_NOTES = Path(".pytest_cache/pytorch")
# Two programs at a time make matrices of 3 GB before they copy them to the GPU.
_MEMORY = 9 << 30
OBSTACLE = "TEST_TORCH_OBSTACLE"


def main() -> int:
    """Prepare, then test."""
    arguments = [word for word in sys.argv[1:] if word != _WHERE_POSSIBLE]
    try:
        _check_memory()
        for version in VERSIONS:
            make(version)
    except ImpossibleError as error:
        print(f"The PyTorch tests are NOT run: {error}.", file=sys.stderr, flush=True)
        if _WHERE_POSSIBLE not in sys.argv:
            return 1
        return _test(["-rs", *arguments], {OBSTACLE: str(error)})
    return _test(arguments, {})


def _check_memory() -> None:
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    (available,) = (line.split()[1] for line in lines if line.startswith("MemAvailable"))
    if int(available) << 10 < _MEMORY:
        raise ImpossibleError(
            f"they need {_MEMORY >> 30} GiB of memory, and {int(available) >> 20} GiB are available"
        )


def _test(arguments: list[str], environment: dict[str, str]) -> int:
    def run(words: Sequence[str]) -> int:
        command = [sys.executable, "-m", "pytest", *words]
        return subprocess.run(command, env={**os.environ, **environment}).returncode

    code = run(["tests/pytorch", *remembering(_NOTES), *arguments])
    return judged([(code, _NOTES)], run)


if __name__ == "__main__":
    sys.exit(main())
