"""The records of memory that moves explicitly, without a driver, under the sanitizers."""

from pathlib import Path

import pytest

from .conftest import Build
from .test_plain_c import run


@pytest.fixture(scope="module")
def region(build: Build) -> Path:
    return build("region_check", "explicit/region.c", "explicit/mapping.c", "explicit/slab.c")


@pytest.mark.parametrize("what", ["order", "gone", "empty"])
def test_regions(region: Path, what: str) -> None:
    run(region, what)


def test_regions_and_slabs_against_a_model(region: Path) -> None:
    for seed in range(10):
        run(region, "model", seed, 5_000)


@pytest.fixture(scope="module")
def extent(build: Build) -> Path:
    return build("extent_check", "explicit/extent.c", "explicit/slot.c")


@pytest.mark.parametrize("what", ["spare", "report"])
def test_host_memory(extent: Path, what: str) -> None:
    run(extent, what)


def test_slots_in_extents_against_a_model(extent: Path) -> None:
    for seed in range(10):
        run(extent, "model", seed, 2_000)
