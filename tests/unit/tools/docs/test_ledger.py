"""docs/hooks.md says how the interposer treats every function of the driver."""

import pytest

from tools.docs import ledger
from tools.docs.pages import ROOT

# A program built with CUDA 12 calls the functions of its headers.
CUDA_12 = ("--in", "nvidia/cuda_runtime/include", "cuda.h", "cudaTypedefs.h")


@pytest.fixture(scope="module")
def rows() -> dict[str, ledger.Row]:
    return {row.symbol: row for row in ledger.rows()}


def test_what_is_committed_is_what_the_interposer_does() -> None:
    committed = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
    assert committed == ledger.page(), "run `make reference`"


def test_functions_of_an_older_cuda_are_in_it_with_the_same_release(
    rows: dict[str, ledger.Row],
) -> None:
    older = ledger.entry_points(ledger.headers(*CUDA_12))
    assert len(older) > 400
    assert {symbol: rows[symbol].since for symbol in older} == older


def test_a_function_is_hooked_or_has_a_reason(rows: dict[str, ledger.Row]) -> None:
    assert all(bool(row.kind) != bool(row.reason) for row in rows.values())
    assert rows["cuLaunchKernel"] == ledger.Row("cuLaunchKernel", 4000, "launch")
    assert rows["cuMemAlloc_v2"].kind == "alloc"
    assert rows["cuInit"].reason
