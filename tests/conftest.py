"""Options of the test suite as a whole, and what its processes share."""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tools.cache import Make, kept

Once = Callable[[str, Make], Path]

# Hypothesis. Every run of CI looks at the same examples, and tells of the first that fails at once.
# To make it smaller takes hundreds of failing runs, and a test's timeout would be one of them: that
# is for whoever mends it.
settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes that are larger on request, and the parts in which `make test` runs everything."""
    parser.addoption(
        "--part",
        choices=["together", "timed"],
        help="only tests that can run beside others, or only those that are marked timed",
    )
    parser.addoption(
        "--bad-frames",
        type=int,
        default=100_000,
        metavar="N",
        help="how many bad frames the daemon has to survive (default: %(default)s)",
    )


# What a test may need that a machine may not have, and why it needs it.
_MISSING = {
    "root": None if os.getuid() == 0 else "only root can become other users",
    **{shell: None if shutil.which(shell) else f"there is no {shell}" for shell in ("zsh", "fish")},
    "systemd": None if shutil.which("systemd-analyze") else "there is no systemd-analyze",
}
_LEFT_OUT = pytest.StashKey[dict[str, int]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot run here, and the other part.

    Neither is counted as deselected: the other part has a run of its own, and of what cannot run
    here the summary says so.
    """
    left_out = config.stash[_LEFT_OUT] = Counter(why for why in map(_obstacle, items) if why)
    if left_out:
        items[:] = [item for item in items if not _obstacle(item)]
    if part := config.getoption("part"):
        timed = part == "timed"
        items[:] = [item for item in items if bool(item.get_closest_marker("timed")) == timed]


def _obstacle(item: pytest.Item) -> str | None:
    needs = [marker.args[0] for marker in item.iter_markers("needs")]
    return next((why for need in needs if (why := _MISSING[need])), None)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was left out."""
    for why, count in config.stash.get(_LEFT_OUT, {}).items():
        terminalreporter.write_line(f"not run here: {count} tests, because {why}")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make something under a name. Of processes that run tests side by side, one makes it."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda name, make: kept(folder / name, make)
