"""The pytest plugin ``nvshare-emulated-gpu``: programs that a test starts see emulated GPUs.

Every run of pytest loads this file, even one that does not use GPUs. So it imports only pytest;
the first test that uses a node imports the rest.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nvshare.lab.emulator.under_test import EmulatedGpus

MARKER = "emulated_gpu"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, for `--strict-markers` and `pytest --markers`."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(gpus='t4', speed=1.0, data='on', host_memory='256Gi'): programs that the test "
        "starts see these emulated GPUs; the fixture of this name injects faults into them and "
        "reads their state",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a marked test its GPUs, whether it names the fixture or not."""
    names = getattr(item, "fixturenames", None)
    if names is not None and MARKER not in names and item.get_closest_marker(MARKER):
        names.insert(0, MARKER)


@pytest.fixture
def emulated_gpu(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> "Iterator[EmulatedGpus]":
    """Emulated GPUs for all programs that the test starts; as the marker says, or one T4."""
    from inspect import signature

    from nvshare.errors import NvshareError
    from nvshare.lab.emulator.under_test import start

    marker = request.node.get_closest_marker(MARKER)
    args, kwargs = (marker.args, marker.kwargs) if marker else ((), {})
    try:
        signature(start).bind(tmp_path, monkeypatch.setenv, *args, **kwargs)
    except TypeError as error:
        pytest.fail(f"the marker {MARKER} has no such argument: {error}", pytrace=False)
    try:
        with start(tmp_path, monkeypatch.setenv, *args, **kwargs) as gpus:
            yield gpus
    except NvshareError as error:
        pytest.fail(error.in_a_line, pytrace=False)
