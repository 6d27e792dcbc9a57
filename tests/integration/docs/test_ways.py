"""The ways of ARCHITECTURE.md are what calls come through today."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.docs.ways.native_calls import build_traced
from tools.docs.ways.scenes import SCENES, record
from tools.docs.ways.way import FOLDER, as_text

# Threads of a program run side by side: on a busy machine, one may see the other at another moment.
_ATTEMPTS = 3


@pytest.fixture(scope="session")
def traced(once: Callable[..., Path]) -> Path:
    """The interposer, noting its calls."""

    def make(folder: Path) -> None:
        build_traced(folder)

    return once("traced", make) / "native" / "interposer" / "libnvshare.so"


@pytest.mark.parametrize("name", SCENES)
def test_what_is_committed_is_what_is_recorded(name: str, traced: Path) -> None:
    committed = (FOLDER / f"{name}.calls").read_text(encoding="utf-8")
    for _ in range(_ATTEMPTS):
        recorded = as_text(record(name, traced))
        if recorded == committed:
            break
    assert recorded == committed, "run `make reference`"
