import pytest

from tools.summary import total

ALL = """\
tests/unit/test_a.py ....                                                [100%]
=========== 1 failed, 3 passed, 2 warnings in 61.50s (0:01:01) ============
"""
FLAKY = """\
1 failed, 1 passed, 1 error in 1.00s
2 passed in 0.50s
2 failed at first, passed alone
"""
CLUSTER = "======================== 49 passed in 640.25s (0:10:40) ========================\n"


@pytest.mark.parametrize(
    ("logs", "line"),
    [
        ([CLUSTER], "49 passed in 640.25s (0:10:40)"),
        ([ALL, CLUSTER], "1 failed, 52 passed, 2 warnings in 701.75s (0:11:41)"),
        ([CLUSTER, "2 skipped in 0.50s\n"], "49 passed, 2 skipped in 640.75s (0:10:40)"),
        (["1 passed in 0.50s\n", "1 passed, 2 errors in 0.25s\n"], "2 passed, 2 errors in 0.75s"),
        # One make may run pytest more than once.
        (["1 failed in 0.10s\n4 passed in 0.50s\n"], "1 failed, 4 passed in 0.60s"),
        # A test that passed alone has passed.
        (
            [FLAKY],
            "3 passed in 1.50s",
        ),
    ],
)
def test_closing_lines_are_added_up(logs: list[str], line: str) -> None:
    assert total(logs).strip("= ") == line


@pytest.mark.parametrize("log", ["", "no tests ran in 0.01s\n", "make: *** [test-k8s] Error 1\n"])
def test_a_run_that_did_not_get_to_its_end_is_an_error(log: str) -> None:
    assert total([CLUSTER, log]).strip("= ") == "49 passed, 1 error in 640.25s (0:10:40)"
