"""Fuzzes one of the readers in Python for some time: ``python -m tests.fuzz.python NAME SECONDS``.

Hypothesis makes the inputs and shrinks a failing one. It is written to build/fuzz, and its path and
the error are printed.
"""

import hashlib
import io
import sys
import time
import traceback
from contextlib import redirect_stdout
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz import chance
from tests.fuzz.inputs import kept
from tests.fuzz.mutation import mutated
from tests.fuzz.readers import LONGEST, READERS, Reader
from tests.fuzz.seeds import made

ROOT = Path(__file__).parents[2]
CRASHES = ROOT / "build" / "fuzz" / "crashes"
_AT_ONCE = 100


class TooLongError(Exception):
    """A reader took very long for one input."""


def attempt(reader: Reader, data: bytes) -> None:
    """Give a reader one input. Raises exceptions that a reader should not raise."""
    began = time.process_time()
    try:
        with redirect_stdout(io.StringIO()):
            reader.read(data)
    except reader.refuses:
        pass
    took = time.process_time() - began
    if took > LONGEST:
        raise TooLongError(f"{took:.1f} s of a core")


def fuzz(name: str, examples: int, *, number: int = 0) -> int:
    """Try so many inputs of a kind. Returns how many there were; raises on a failure.

    The failing input is in ``data`` of the exception.
    """
    reader, tried, last = READERS[name], 0, b""
    seeds = list({**made(name), **kept(name)}.values())

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(seeds))
    def look(data: bytes) -> None:
        nonlocal tried, last
        tried, last = tried + 1, data
        attempt(reader, data)

    try:
        look()
    except Exception as error:
        # Hypothesis tries the smallest failing input once more at the end.
        error.data = last  # type: ignore[attr-defined]
        raise
    return tried


def main(name: str, seconds: float) -> int:
    """Fuzz for some time."""
    ends, tried, number = time.monotonic() + seconds, 0, chance.seed()
    while time.monotonic() < ends:
        number += 1
        try:
            tried += fuzz(name, _AT_ONCE, number=number)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is what was looked for)
            data: bytes = getattr(error, "data", b"")
            path = CRASHES / name / hashlib.sha256(data).hexdigest()[:16]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            traceback.print_exc()
            print(f"{tried} inputs, then {type(error).__name__}: {path}")
            return 1
    print(f"{tried} inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
