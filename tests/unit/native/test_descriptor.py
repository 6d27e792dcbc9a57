"""descriptor.c and bell.c, in a program that closes descriptors that are not its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[3] / "native/tests/descriptor_check.c"


@pytest.fixture(scope="session")
def program(build_common: Callable[[Path], Path]) -> Path:
    return build_common(CHECK)


@pytest.mark.parametrize("what", ["kept", "bell", "limited", "full", "threads"])
def test_only_what_is_kept_is_touched(program: Path, what: str) -> None:
    done = subprocess.run(
        [program, what], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
