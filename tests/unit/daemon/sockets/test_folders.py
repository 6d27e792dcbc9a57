import os
import resource
import shutil
import stat
from pathlib import Path

import pytest

from nvshare.daemon.sockets.folders import Folder, Lock, Marker, raise_file_limit
from nvshare.errors import NvshareError


@pytest.mark.parametrize(
    ("socket_mode", "folder_mode"),
    [(0o600, 0o700), (0o660, 0o750), (0o666, 0o755), (0o606, 0o705)],
)
def test_modes(tmp_path: Path, socket_mode: int, folder_mode: int) -> None:
    path = tmp_path / "a" / "b"
    with Folder(path, mode=socket_mode, group="") as folder, folder.listen("s", socket_mode):
        assert stat.S_IMODE(path.stat().st_mode) == folder_mode
        assert stat.S_IMODE((path / "s").stat().st_mode) == socket_mode


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    with (
        Lock(tmp_path),
        pytest.raises(NvshareError, match=f"running already, with pid {os.getpid()}"),
    ):
        Lock(tmp_path)
    with Lock(tmp_path):
        pass


def test_a_full_disk_does_not_keep_a_daemon_from_starting(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file can grow, as on a disk that is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with Lock(tmp_path), pytest.raises(NvshareError, match=r"running already, with pid \?"):
            Lock(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_folder_that_was_removed_is_gone_even_if_there_is_another(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with Folder(path, mode=0o600, group="") as folder:
        assert not folder.is_gone
        shutil.rmtree(path)
        assert folder.is_gone
        with Folder(path, mode=0o600, group="") as other:
            assert (folder.is_gone, other.is_gone) == (True, False)


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    with Folder(tmp_path, mode=0o600, group="") as folder:
        folder.listen("s", 0o600).close()
        folder.listen("s", 0o600).close()


def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    with (
        Folder(tmp_path / ("x" * 90), mode=0o600, group="") as folder,
        pytest.raises(NvshareError, match="cannot be made"),
    ):
        folder.listen("nvshare.sock", 0o600)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NvshareError, match="cannot be used for sockets"):
        Folder(tmp_path / "file", mode=0o600, group="")
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(NvshareError, match="cannot be used for sockets"):
        Folder(tmp_path / "link", mode=0o600, group="")


def test_the_marker_outlives_its_object(tmp_path: Path) -> None:
    marker = Marker(tmp_path)
    assert not marker.was_set
    marker.set(True)
    assert Marker(tmp_path).was_set
    marker.set(False)
    assert not Marker(tmp_path).was_set
    Marker(tmp_path / "gone").set(True)


def test_the_limit_of_files() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert raise_file_limit() == before[1]
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
