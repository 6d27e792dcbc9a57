"""A way to call the command line, shared by its tests."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result

from nvshare.cli.main import cli

Call: TypeAlias = Callable[..., Result]


@pytest.fixture
def call() -> Call:
    """Return a function that runs ``nvshare ARGUMENT…`` in this process."""

    def run(*arguments: str) -> Result:
        # A traceback is never an answer, so any other exception is raised into the test.
        return CliRunner().invoke(cli, arguments, prog_name="nvshare", catch_exceptions=False)

    return run
