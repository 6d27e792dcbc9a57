"""run.py: which readers are fuzzed, and how it ends."""

import pytest

from nvshare.errors import NvshareError
from tests.fuzz import run


def names(only: str, *, where_possible: bool = False) -> list[str]:
    return [name for name, _ in run._commands(only, where_possible=where_possible)]


def test_some() -> None:
    assert names("config, body") == ["config", "body"]


def test_one_that_does_not_exist() -> None:
    with pytest.raises(NvshareError, match="no reader nonsense"):
        names("config nonsense")


def test_without_clang_only_those_in_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert names("ptx config", where_possible=True) == ["config"]
    assert "no clang" in capsys.readouterr().out
    monkeypatch.setattr("os.getuid", lambda: 1000)
    with pytest.raises(NvshareError, match="cannot be fuzzed"):
        names("ptx")


def test_a_reader_that_fails_is_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz", "--seconds", "1", "--only", "body"])
    monkeypatch.setattr(run, "_fuzz_python", lambda *_: ["/bin/sh", "-c", "echo no; exit 1"])
    assert run.main() == 1
    assert "failed: ['body']" in capsys.readouterr().out
    monkeypatch.setattr(run, "_fuzz_python", lambda *_: ["/bin/sh", "-c", "echo 7 inputs"])
    assert run.main() == 0
    assert "7 inputs" in capsys.readouterr().out
