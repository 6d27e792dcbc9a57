import os
import stat
import tempfile
from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.lab.emulator import root


def test_the_folder_is_private_and_named_after_the_user(nodes: Path) -> None:
    assert nodes.name == f"nvshare-emulator-{os.getuid()}"
    assert stat.S_IMODE(nodes.stat().st_mode) == 0o700


def test_an_open_folder_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    folder.chmod(0o777)
    assert stat.S_IMODE(root.private_folder(folder).stat().st_mode) == 0o700


def test_without_shared_memory_the_folder_is_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "_SHARED_MEMORY", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert root.node_root().parent == tmp_path


def test_a_folder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVSHARE_EMULATOR_ROOT", str(tmp_path / "mine"))
    assert root.node_root() == tmp_path / "mine"
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o700


def test_a_link_put_there_by_somebody_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "x").symlink_to("elsewhere")
    with pytest.raises(NvshareError, match="cannot be used"):
        root.private_folder(tmp_path / "x")


def test_a_folder_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(NvshareError, match="cannot be used"):
        root.private_folder(tmp_path / "x")
