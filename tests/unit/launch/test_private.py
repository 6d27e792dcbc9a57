"""The folder that is the daemon's alone, and its place if the usual one is impossible."""

import os
from pathlib import Path

import pytest

from nvshare.launch.private import make_private, private_folder


def test_it_is_beside_the_sockets_and_for_one_user(tmp_path: Path) -> None:
    made = make_private(tmp_path / "nvshare", {})
    assert made == tmp_path / "nvshare-private" == private_folder(tmp_path / "nvshare", {})
    assert made.stat().st_mode & 0o777 == 0o700
    made.chmod(0o777)
    assert make_private(tmp_path / "nvshare", {}).stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_made_beside_the_sockets_it_is_among_them(tmp_path: Path) -> None:
    (tmp_path / "nvshare-private").write_text("somebody was faster")
    assert make_private(tmp_path / "nvshare", {}) == tmp_path / "nvshare" / "private"
    (tmp_path / "nvshare-private").unlink()
    (tmp_path / "nvshare-private").symlink_to(tmp_path)
    assert make_private(tmp_path / "nvshare", {}) == tmp_path / "nvshare" / "private"


def test_one_that_is_somebody_else_s_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvshare-private").mkdir()
    (tmp_path / "nvshare").mkdir()
    uid = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: uid + 1)
    with pytest.raises(PermissionError, match="belongs to you"):
        make_private(tmp_path / "nvshare", {})


def test_one_that_was_named_is_used_or_refused(tmp_path: Path) -> None:
    environ = {"NVSHARE_PRIVATE_DIR": str(tmp_path / "own")}
    assert make_private(tmp_path / "nvshare", environ) == tmp_path / "own"
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_private(tmp_path / "nvshare", {"NVSHARE_PRIVATE_DIR": str(tmp_path / "file")})
