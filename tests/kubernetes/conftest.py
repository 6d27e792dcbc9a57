"""One cluster for all tests, with nvshare on its node, and a namespace for each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cluster.node import Cluster


@pytest.fixture(scope="session")
def bare_cluster() -> Iterator[Cluster]:
    """A node that is ready, and has nothing on it."""
    cluster = Cluster(Path(os.environ["TEST_K8S_KUBERNETES"]), Path(os.environ["TEST_K8S_FOLDER"]))
    try:
        cluster.start([Path(path) for path in os.environ["TEST_K8S_IMAGES"].split(":")])
        yield cluster
    finally:
        cluster.stop()
