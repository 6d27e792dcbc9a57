"""Options of the test suite as a whole, and what its processes share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.cache import Make, kept

Once = Callable[[str, Make], Path]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes that are larger on request."""
    parser.addoption(
        "--bad-frames",
        type=int,
        default=1_000_000,
        metavar="N",
        help="how many bad frames the daemon has to survive (default: %(default)s)",
    )


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make something under a name. Of processes that run tests side by side, one makes it."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda name, make: kept(folder / name, make)
