"""Options of the test suite as a whole, and what its processes share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.cache import Make, kept

Once = Callable[[str, Make], Path]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes that are larger on request, and the parts in which `make test` runs everything."""
    parser.addoption(
        "--part",
        choices=["together", "alone"],
        help="only tests that can run beside others, or only those that are marked alone",
    )
    parser.addoption(
        "--bad-frames",
        type=int,
        default=1_000_000,
        metavar="N",
        help="how many bad frames the daemon has to survive (default: %(default)s)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the other part out. It is not counted as deselected, since it has a run of its own."""
    if part := config.getoption("part"):
        alone = part == "alone"
        items[:] = [item for item in items if bool(item.get_closest_marker("alone")) == alone]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make something under a name. Of processes that run tests side by side, one makes it."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda name, make: kept(folder / name, make)
