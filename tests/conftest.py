"""Options of the test suite as a whole, and what its processes share."""

import gc
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

# Hypothesis. Every run of CI tries the same examples, and reports the first failure at once.
# Shrinking takes hundreds of failing runs, and a test's timeout would be one of them, so it is left
# to the person who fixes the failure.
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
        help="only tests that can run in parallel, or only tests that are marked timed",
    )
    parser.addoption(
        "--bad-frames",
        type=int,
        default=100_000,
        metavar="N",
        help="how many bad frames the daemon has to survive (default: %(default)s)",
    )


# Requirements of tests that a machine may not meet, each with its reason.
_MISSING = {
    "root": None if os.getuid() == 0 else "only root can become other users",
    **{shell: None if shutil.which(shell) else f"there is no {shell}" for shell in ("zsh", "fish")},
    "systemd": None if shutil.which("systemd-analyze") else "there is no systemd-analyze",
}
# Each of these takes a minute or more. They come first, so that none runs on when all others are
# done.
_LONG = tuple(
    f"tests/{path}.py"
    for path in (
        "integration/chaos/test_campaign",
        "integration/clients/test_side_by_side",
        "unit/lab/sim/test_engine",
        "unit/lab/emulator/model/test_kill",
        "unit/interposer/test_plain_c",
        "property/test_core",
        "integration/sharing/test_explicit",
        "integration/sharing/test_undrained",
        "integration/sharing/test_why",
        "integration/sharing/test_fuzz",
    )
)
_LEFT_OUT = pytest.StashKey[dict[str, int]]()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For the part of the timed tests, do not import the many files that have none."""
    if config.getoption("part") != "timed" or collection_path.suffix != ".py":
        return None
    return None if "mark.timed" in collection_path.read_text(encoding="utf-8") else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that cannot run here, and those of the other part.

    Neither is counted as deselected: the other part has a run of its own, and the summary names the
    tests that cannot run here.
    """
    left_out = config.stash[_LEFT_OUT] = Counter(why for why in map(_obstacle, items) if why)
    if left_out:
        items[:] = [item for item in items if not _obstacle(item)]
    if part := config.getoption("part"):
        timed = part == "timed"
        items[:] = [item for item in items if bool(item.get_closest_marker("timed")) == timed]
        items.sort(key=lambda item: not item.nodeid.startswith(_LONG))


def _obstacle(item: pytest.Item) -> str | None:
    needs = [marker.args[0] for marker in item.iter_markers("needs")]
    return next((why for need in needs if (why := _MISSING[need])), None)


def pytest_sessionstart() -> None:
    """Thousands of tests are made, and none goes: no garbage is looked for among them."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on garbage is looked for, but not among the tests: that would take seconds each."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print which tests were left out, and why."""
    for why, count in config.stash.get(_LEFT_OUT, {}).items():
        terminalreporter.write_line(f"not run here: {count} tests, because {why}")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make something under a name, in only one of the processes that run tests side by side."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda name, make: kept(folder / name, make)
