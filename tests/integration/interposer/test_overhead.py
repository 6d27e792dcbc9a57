"""The benchmark of the interposer's own cost, and the part of it that no busy machine can blur."""

import shutil

import pytest

from nvshare.cli.bench import overhead
from nvshare.cli.bench.group import Line


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> dict[str, Line]:
    for name, value in {"_TURNS": 1, "_CALLS": 2_000, "_ROUNDS": 2}.items():
        monkeypatch.setattr(overhead, name, value)
    return {line["what"]: line for line in overhead.measure()}


def test_instructions_per_call(lines: dict[str, Line]) -> None:
    assert list(lines) == ["launch", "copy", "info", "alloc", "alloc-10000"]
    for line in lines.values():
        assert min(line["bare_ns"], line["forwarded_ns"], line["managed_ns"]) > 0
    if shutil.which("valgrind") is None:
        assert lines["launch"]["managed_instructions"] is None
        return
    # A copy that returns when it is done is counted, since no event tells when it is.
    for what, most in {"launch": 25, "copy": 40}.items():
        line = lines[what]
        assert line["managed_instructions"] - line["bare_instructions"] <= most
