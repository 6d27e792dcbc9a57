"""Options of the test suite as a whole."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes that are larger on request."""
    parser.addoption(
        "--bad-frames",
        type=int,
        default=1_000_000,
        metavar="N",
        help="how many bad frames the daemon has to survive (default: %(default)s)",
    )
