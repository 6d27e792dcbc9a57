"""The commands of the documentation, as a reader types them, on emulated nodes."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.docs.pages import ROOT, blocks, pages
from tools.docs.running import run

RUN = [page for page in pages() if any(block.is_run for block in blocks(page))]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, for sockets, and in memory, for the memory of GPUs."""
    place = Path(tempfile.mkdtemp(prefix="nvshare-docs-", dir="/dev/shm"))
    yield place
    shutil.rmtree(place)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_works(page: Path, folder: Path) -> None:
    done = run(page, folder, seconds=100)

    assert done.returncode == 0, done.stdout
    # A shell does not notice a missing program that it starts in the background.
    assert "command not found" not in done.stdout, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    printed = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("+"))
    for shown in filter(None, (block.shows for block in blocks(page))):
        assert shown in printed, done.stdout
