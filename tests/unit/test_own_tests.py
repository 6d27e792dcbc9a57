"""Every module has a test file of its own, or tests/unit/elsewhere.toml says what tests it."""

import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "nvshare"
UNIT = ROOT / "tests" / "unit"
TESTED_BY: dict[str, list[str]] = tomllib.loads((UNIT / "elsewhere.toml").read_text())["tested_by"]
PATTERNS = [pattern for patterns in TESTED_BY.values() for pattern in patterns]


def modules() -> list[str]:
    """Return every module with something in it to test."""
    found = (path.relative_to(SOURCES) for path in SOURCES.rglob("*.py"))
    return sorted(
        str(path)
        for path in found
        if path.name not in ("__init__.py", "__main__.py")
        and path.parts[:2] != ("kubernetes", "api")
    )


MODULES = modules()


def has_its_own(module: str) -> bool:
    path = Path(module)
    return (UNIT / path.parent / f"test_{path.name}").is_file()


def is_match(module: str, pattern: str) -> bool:
    return Path(module).parent == Path(pattern).parent and fnmatch(module, pattern)


def test_every_module_has_tests_of_its_own_or_is_tested_elsewhere() -> None:
    without = [module for module in MODULES if not has_its_own(module)]
    missing = [one for one in without if not any(is_match(one, pattern) for pattern in PATTERNS)]
    assert missing == [], "write tests/unit/…/test_NAME.py, or add a line to elsewhere.toml"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_tested_elsewhere_exists_and_has_no_tests_of_its_own(pattern: str) -> None:
    assert [one for one in MODULES if is_match(one, pattern) and not has_its_own(one)]


@pytest.mark.parametrize("tests", list(TESTED_BY))
def test_the_tests_exist(tests: str) -> None:
    path = ROOT / tests
    assert path.is_file() or list(path.rglob("test_*.py"))
