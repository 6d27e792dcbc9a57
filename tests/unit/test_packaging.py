"""pyproject.toml says some things twice; this compares them."""

import sys
from pathlib import Path

from nvshare import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())


def test_the_build_group_has_all_that_an_isolated_build_gets() -> None:
    assert set(PYPROJECT["build-system"]["requires"]) <= set(
        PYPROJECT["dependency-groups"]["build"]
    )


def test_the_version_is_that_of_the_distribution() -> None:
    assert __version__ == PYPROJECT["project"]["version"]
