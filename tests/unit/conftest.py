"""Fixtures of unit tests: a private place for nodes, and libraries that need not be built."""

from pathlib import Path

import pytest

from nvshare.lab.emulator import libraries, root


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make node_root() a folder of this test's own, and return it."""
    monkeypatch.setattr(root, "_SHARED_MEMORY", tmp_path)
    return root.node_root()


@pytest.fixture
def library_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put files with the names of the libraries into the folder of libraries."""
    folder = tmp_path / "lib" / "emulator"
    folder.mkdir(parents=True)
    for name in (libraries.DRIVER, libraries.NVML, *libraries.RUNTIMES):
        (folder / name).touch()
    monkeypatch.setattr(libraries, "files", lambda _: tmp_path)
    return folder
