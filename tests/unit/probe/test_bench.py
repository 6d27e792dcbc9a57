from pathlib import Path

import pytest

from nvshare.probe import bench
from nvshare.probe.gpu import MIB
from nvshare.probe.host import HostMemory, MemoryCgroup

GIB = 1 << 30


@pytest.fixture(autouse=True)
def _roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NVSHARE_EMULATOR_NODE", raising=False)
    monkeypatch.setattr(bench, "read_memory", lambda: HostMemory(64 * GIB, None, None))
    monkeypatch.setattr(bench, "memory_cgroup", lambda: None)


def test_a_piece_is_a_gibibyte() -> None:
    assert bench.fitting_piece(15 * GIB, bench.PIECE) == GIB
    assert bench.fitting_piece(15 * GIB, bench.QUICK_PIECE) == 64 * MIB


def test_a_small_gpu_has_small_pieces() -> None:
    assert bench.fitting_piece(2 * GIB + 1, bench.PIECE) == 256 * MIB


def test_a_small_host_has_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "read_memory", lambda: HostMemory(GIB, None, None))
    assert bench.fitting_piece(15 * GIB, bench.PIECE) == 256 * MIB
    # The host memory of an emulated GPU is not that of this machine.
    monkeypatch.setenv("NVSHARE_EMULATOR_NODE", "/n/lab")
    assert bench.fitting_piece(15 * GIB, bench.PIECE) == GIB


def test_nobody_is_killed_for_a_piece(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(str(GIB))
    (tmp_path / "memory.current").write_text(str(GIB // 2))
    monkeypatch.setattr(bench, "memory_cgroup", lambda: MemoryCgroup(tmp_path, tmp_path, 2))
    assert bench.fitting_piece(15 * GIB, bench.PIECE) == 128 * MIB
