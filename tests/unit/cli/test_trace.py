from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli.control import Daemon
from nvshare.errors import NvshareError
from nvshare.telemetry.trace.items import Began, Gpu, Program, Spent

Call = Callable[..., Result]


def test_the_name_of_the_file_says_what_to_write(call: Call) -> None:
    result = call("trace", "-o", "t.txt")
    assert result.exit_code == 2
    assert ".svg" in result.stderr


def test_a_file_that_cannot_be_is_refused_before_anything_is_recorded(
    call: Call, tmp_path: Path
) -> None:
    result = call("trace", "-o", str(tmp_path / "none" / "t.json"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("end", [KeyboardInterrupt(), NvshareError("it is gone")])
def test_what_was_recorded_until_an_interrupt_or_the_end_of_the_daemon_is_written(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: BaseException
) -> None:
    def trace(_self: Daemon, _seconds: float, take: Callable[[object], None]) -> None:
        for item in (
            Began(0, 0.0, "1"),
            Gpu("g", 0, "T4", 1),
            Program(1, "g", "p"),
            Spent(1, "idle", 0, 2 * 10**9),
        ):
            take(item)
        raise end

    monkeypatch.setattr(Daemon, "trace", trace)
    file = tmp_path / "t.json"
    result = call("trace", "-o", str(file))
    assert result.exit_code == 0, result.output
    assert "2.0 s, 1 GPUs, 1 programs" in result.output
    assert file.exists()
