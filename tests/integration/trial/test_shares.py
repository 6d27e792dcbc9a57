"""From a case of `nvshare bench shares` to the counts of the emulated GPU."""

import pytest

from nvshare.cli.lab.bench.share_cases import Case, Client
from nvshare.cli.lab.bench.share_runs import run

pytestmark = pytest.mark.timed

ATTEMPTS = 3


def test_cases_are_measured_side_by_side() -> None:
    cases = [Case("half", (Client(50),)), Case("bare", (Client(30), Client(gpu=1, is_bare=True)))]
    expected = {"half": (50,), "bare": (30, 100)}
    for _ in range(ATTEMPTS):
        got = {one.case.name: one.percents for one in run(cases, 1.0, warm_up=0.5)}
        assert set(got) == set(expected)
        if all(got[name] == pytest.approx(expected[name], abs=5) for name in expected):
            return
    pytest.fail(f"got {got}")
