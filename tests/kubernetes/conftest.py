"""One cluster for all tests. Each file of tests has nvshare installed in the way it needs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.manifests import render

from .cluster.node import Cluster
from .lab import Lab

# Emulated seconds pass faster than real ones, and no test reads the contents of GPU memory.
EMULATED = {
    "emulated.enabled": "true",
    "emulated.gpus": "2xt4",
    "emulated.speed": "20",
    "emulated.data": "false",
    "image.pullPolicy": "Never",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip everything on a machine on which no cluster can be started; run.py finds that out."""
    if why := os.environ.get("TEST_K8S_OBSTACLE"):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A node that is ready."""
    folder = Path(os.environ["TEST_K8S_FOLDER"])
    cluster = Cluster(Path(os.environ["TEST_K8S_KUBERNETES"]), folder)
    try:
        cluster.start([Path(path) for path in os.environ["TEST_K8S_IMAGES"].split(":")])
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def values() -> dict[str, str]:
    """The values that nvshare is installed with."""
    return {}


@pytest.fixture(scope="module")
def installed(cluster: Cluster, values: dict[str, str]) -> Lab:
    """A cluster with nvshare on an emulated node. An existing installation is changed."""
    lab = Lab(cluster)
    lab.apply(render({**EMULATED, **values}))
    lab.until_installed(gpus=20)
    return lab


@pytest.fixture
def lab(installed: Lab) -> Iterator[Lab]:
    """The same, without pods before the test and after it."""
    yield installed
    installed.delete_pods()
