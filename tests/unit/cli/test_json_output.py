import json

import pytest

from nvshare.cli import json_output


def test_a_value_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    json_output.show_json({"name": "a\nb", "size": 1})
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert json.loads(said) == {"name": "a\nb", "size": 1}


def test_it_is_read_again_until_control_c(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = iter((1, 2))
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    json_output.follow_json(lambda: next(readings), 3.0)
    assert (capsys.readouterr().out, slept) == ("1\n2\n", [3.0, 3.0])


def test_without_a_period_once(capsys: pytest.CaptureFixture[str]) -> None:
    json_output.follow_json(lambda: 1, None)
    assert capsys.readouterr().out == "1\n"
