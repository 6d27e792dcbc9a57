"""numba-cuda on an emulated node."""

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("program", ["numba_arrays", "numba_detect", "numba_kernels"])
def test_numba(check: Callable[..., None], program: str) -> None:
    check(program)
