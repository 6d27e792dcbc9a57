"""nvshare demo without a terminal: plain lines, and the table."""

import re

import pytest
from click.testing import CliRunner

from nvshare.cli.main import cli

pytestmark = pytest.mark.timed


def test_a_short_one() -> None:
    result = CliRunner().invoke(cli, ["demo", "--iterations", "60", "--speed", "20"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    lines = result.output.splitlines()
    assert any(
        re.search(r"with nvshare 100.0 %, 100.0 %, 100.0 %, 100.0 %", line) for line in lines
    )
    (until,) = (line for line in lines if "until all are done" in line)
    shared, unscheduled = re.findall(r"(~?[\d,]+) s", until)[:2]
    assert unscheduled.startswith("~")
    # Even so few iterations are too many without scheduling.
    assert int(unscheduled[1:].replace(",", "")) > 5 * int(shared)
    assert "Values with ~ are extrapolated" in result.output
