from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nvshare.errors import NvshareError
from nvshare.probe import examination
from nvshare.probe.bench import Bench
from nvshare.probe.clock import Clock
from nvshare.probe.driver import CudaError
from nvshare.probe.readings import Readings, Unavailable

NOBODY: Any = None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.delenv("NVSHARE_EMULATOR_NODE", raising=False)
    return Bench(NOBODY, Clock({}), 0, NOBODY, Readings(), 1 << 20)


def failing(error: Exception) -> Callable[[Bench], None]:
    def probe(bench: Bench) -> None:
        bench.readings.note("memory.before", 1)
        raise error

    return probe


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (CudaError("cuMemAlloc_v2", 2, "CUDA_ERROR_OUT_OF_MEMORY"), "CUDA_ERROR_OUT_OF_MEMORY (2)"),
        (Unavailable("others are there"), "others are there"),
        (NvshareError("no library"), "no library"),
        (OSError(28, "No space left on device"), "No space left"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_a_probe_that_fails_says_why_and_the_others_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    probes = {
        "memory": failing(error),
        "bus": lambda bench: bench.readings.note("bus.duplex", 1.8),
    }
    monkeypatch.setattr(examination, "PROBES", probes)
    told: list[str] = []
    examination.examine(bench, told.append, lambda: told.append("ended"))
    assert told == ["memory", "ended", "bus", "ended"]
    assert why in bench.readings.absent["memory"]
    assert "bus" not in bench.readings.absent
    # Readings from before the failure stay.
    assert bench.readings.has("memory.before", "bus.duplex", "bus.took_s")


@pytest.mark.parametrize("data", ["on", "off"])
def test_a_node_without_data_says_nothing_of_contents(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: str
) -> None:
    (tmp_path / "node.conf").write_text(f"nvshare-emulator-node 1\ndata={data}\n")
    monkeypatch.setenv("NVSHARE_EMULATOR_NODE", str(tmp_path))
    probes = {"bus": lambda bench: bench.readings.note("bus.wrong_words", 9)}
    monkeypatch.setattr(examination, "PROBES", probes)
    examination.examine(bench, lambda _: None, lambda: None)
    assert bench.readings.has("bus.wrong_words") is (data == "on")
    assert ("--data off" in bench.readings.absent.get("bus.wrong_words", "")) is (data == "off")


@pytest.mark.parametrize("data", ["on", "off"])
def test_a_node_with_data_says_nothing_of_how_fast_its_copies_are(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: str
) -> None:
    (tmp_path / "node.conf").write_text(f"nvshare-emulator-node 1\ndata={data}\n")
    monkeypatch.setenv("NVSHARE_EMULATOR_NODE", str(tmp_path))
    probes = {"mapped": lambda bench: bench.readings.note("mapped.both.gb_per_s", 9)}
    monkeypatch.setattr(examination, "PROBES", probes)
    examination.examine(bench, lambda _: None, lambda: None)
    assert bench.readings.has("mapped.both.gb_per_s") is (data == "off")
