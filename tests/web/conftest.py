"""`nvshare web` in front of a daemon on an emulated node, and a browser in front of that."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nvshare.lab.emulator.workload import installed_program
from tests.integration.conftest import make_node
from tests.integration.sharing.conftest import Sharing, share

from .run import OBSTACLE

if TYPE_CHECKING:
    from .browser import Browser

__all__ = ["make_node", "share"]

GIB = 1 << 30
Serve = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip everything on a machine that cannot have a browser; run.py finds that out."""
    if why := os.environ.get(OBSTACLE):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def sharing(share: Callable[..., Sharing]) -> Sharing:
    """A T4 with a program that computes."""
    sharing = share("1xt4", data="off")
    start_kernels(sharing, "--kernel", "0.005", "--memory", str(3 * GIB))
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    return sharing


def start_kernels(sharing: Sharing, *options: str) -> None:
    """Start a program that computes until it is ended."""
    sharing.start(installed_program("workloads", "driver-kernels"), *options)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start `nvshare web`; return the URL that it prints. It ends with the test, without error."""
    with ExitStack() as stack:

        def start(sharing: Sharing, *options: str, address: str = "127.0.0.1:0") -> str:
            folder = str(sharing.daemon().path.parent)
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "nvshare", "web", "--address", address, *options],
                    env={**os.environ, "NVSHARE_SOCKET_DIR": folder},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(_end, process)
            assert process.stdout is not None
            return process.stdout.readline().split()[0]

        yield start


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    said, errors = process.communicate(timeout=20)
    assert (process.returncode, said, errors) == (0, "", "")


@pytest.fixture
def browser(tmp_path: Path) -> "Iterator[Browser]":
    """A browser that must log no errors."""
    from .browser import Browser

    browser = Browser(tmp_path / "profile")
    yield browser
    complaints = browser.complaints()
    browser.close()
    assert complaints == []
