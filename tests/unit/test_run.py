"""The two parts of `make test`: side by side where that is permitted, else one after the other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run import run

ROOT = Path(__file__).parents[2]
# Removes the permission: the user's limit is none, and root loses the capability.
WITHOUT_CAPABILITY = ("setpriv", "--bounding-set=-sys_nice") if os.geteuid() == 0 else ()
UNPRIVILEGED = ("prlimit", "--rtprio=0", *WITHOUT_CAPABILITY)
TELL = "import os; print('timed', os.sched_getscheduler(0))"


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def may_go_ahead() -> bool:
    policy = os.sched_getscheduler(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, os.sched_param(0))
    return True


def test_ahead_of_the_others_and_at_the_same_time(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if not may_go_ahead():
        return  # then the other test shows all there is
    meet = tmp_path / "fifo"
    os.mkfifo(meet)
    # Both ends are opened at once, or not at all.
    together = python(f"open({str(meet)!r}).read(); print('together')")
    timed = python(f"open({str(meet)!r}, 'w'); {TELL}")
    assert run(together, timed) == (0, 0)
    assert capfd.readouterr().out == f"together\ntimed {os.SCHED_RR}\n"


def test_after_the_others_where_it_may_not_go_ahead() -> None:
    commands = f"{python('print(1)')!r}, {python(TELL)!r}"
    code = f"from tests.run import run; print(run({commands}))"
    done = subprocess.run(
        [*UNPRIVILEGED, *python(code)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["1", f"timed {os.SCHED_OTHER}", "(0, 0)"]


def test_what_comes_first_is_not_heard_of(capfd: pytest.CaptureFixture[str]) -> None:
    first = python("print('first'); raise SystemExit(1)")
    assert run(python("print('then')"), python("pass"), first=[first, first]) == (0, 0)
    assert capfd.readouterr().out == "then\n"


@pytest.mark.parametrize("codes", [(1, 0), (0, 1), (3, 2)])
def test_whichever_fails(codes: tuple[int, int]) -> None:
    assert run(*(python(f"raise SystemExit({code})") for code in codes)) == codes
