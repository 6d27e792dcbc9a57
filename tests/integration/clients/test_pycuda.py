"""PyCUDA on an emulated node, compiled from source."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pycuda(check: Callable[..., None], pycuda: Path) -> None:
    check("pycuda_arrays", {"PYTHONPATH": str(pycuda)})
