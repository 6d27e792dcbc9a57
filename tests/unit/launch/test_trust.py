"""The rule itself is compared with that of programs in tests/unit/interposer/test_trust.py."""

import os
import socket
from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.launch.place import check_believed
from nvshare.launch.trust import SYSTEM, Trust, believer, judge, judge_peer, name_owner


@pytest.mark.parametrize(
    ("environ", "named"),
    [({}, None), ({"NVSHARE_DAEMON_UID": "1001"}, 1001), ({"NVSHARE_DAEMON_UID": "-1"}, None)],
)
def test_whom_we_believe(environ: dict[str, str], named: int | None) -> None:
    assert believer(SYSTEM, environ).is_machine
    assert not believer(Path("/tmp"), environ).is_machine
    assert believer(SYSTEM, environ).named == named


def test_a_socket_of_ours_is_believed_until_others_can_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "nvshare.sock"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(path))
        server.listen()
        client.connect(str(path))
        assert judge(path, {}) == Trust.YES
        assert judge_peer(client, path, {}) == Trust.YES
        check_believed(client, path, {})
        tmp_path.chmod(0o777)
        assert judge(path, {}) == Trust.FOLDER_MODE
        with pytest.raises(NvshareError, match="is not trusted") as caught:
            check_believed(client, path, {})
        assert f"NVSHARE_DAEMON_UID={os.getuid()}" in str(caught.value.do)
        tmp_path.chmod(0o700)


def test_programs_are_told_whose_daemon_they_are_under(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert name_owner(tmp_path) == {}
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    expected = {"NVSHARE_DAEMON_UID": str(owner)} if owner else {}
    assert name_owner(tmp_path) == expected
