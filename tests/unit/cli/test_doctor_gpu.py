from collections.abc import Callable
from io import StringIO

import pytest
from click.testing import Result
from rich.console import Console

from nvshare.cli.doctor_table import draw
from nvshare.probe import examination
from nvshare.probe.driver import NoDriverError
from nvshare.probe.readings import Readings
from nvshare.probe.report import Report
from tests.unit.probe.published import published


def drawn(readings: Readings, *, emulated: bool = False) -> str:
    report = Report("0.1.0", "2026-03-05", emulated, 1.0, False, readings).judged()
    console = Console(file=StringIO(), width=220)
    console.print(draw(report))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_table_of_what_was_measured() -> None:
    text = drawn(published())
    assert text.startswith("Tesla T4, driver 595.45.04 ")
    (line,) = [one for one in text.splitlines() if "words that are wrong after" in one]
    assert [cell.strip() for cell in line.split("│")[2:5]] == ["0", "none", "ok"]
    assert "BAD" not in text


def test_what_is_bad_is_explained() -> None:
    text = drawn(published(memory__out__cuda_free=2**60), emulated=True)
    assert "driver 595.45.04, emulated" in text
    explanation = text.partition("└")[2]
    assert "BAD  free GPU memory when managed memory leaves for the host" in explanation
    assert "source: published driver: block_clear_resident_processor" in explanation
    assert "what depends on it: no program waits for free memory" in explanation


def test_what_could_not_be_tried_says_why() -> None:
    text = drawn(Readings({}, {"gate": "no daemon [could] be started"}))
    assert "no daemon [could] be started" in text
    assert "n/a" in text


@pytest.mark.parametrize("option", [["--output", "x.json"], ["--quick"], ["--device", "1"]])
def test_options_that_belong_to_the_gpu(call: Callable[..., Result], option: list[str]) -> None:
    result = call("doctor", *option)
    assert result.exit_code == 2
    assert "belong to --gpu" in result.output


def test_a_machine_without_a_driver(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise NoDriverError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(examination, "Driver", fail)
    result = call("doctor", "--gpu")
    assert result.exit_code == 1
    assert "there is no GPU that can be examined" in result.output
    assert "nvshare emulate" in result.output


def test_under_nvshare_itself(call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nvshare.probe.host.loaded", lambda _: True)
    result = call("doctor", "--gpu")
    assert result.exit_code == 2
    assert "outside of `nvshare run`" in result.output
