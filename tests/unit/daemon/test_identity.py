import os
import socket

import pytest

from nvshare.daemon import identity
from nvshare.daemon.identity import Identity, identify, parse_cgroup

POD = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
CONTAINER = "a" * 64
SLICE = f"kubepods-burstable-pod{POD.replace('-', '_')}.slice"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0::/user.slice/user-1000.slice/session-3.scope\n", ("", "")),
        (f"0::/kubepods.slice/{SLICE}/cri-containerd-{CONTAINER}.scope\n", (POD, CONTAINER)),
        (f"0::/kubepods/besteffort/pod{POD}/{CONTAINER}\n", (POD, CONTAINER)),
        (f"4:memory:/kubepods/pod{POD}/{CONTAINER}\n1:name=systemd:/x\n", (POD, CONTAINER)),
        (f"0::/system.slice/docker-{CONTAINER}.scope\n", ("", CONTAINER)),
        ("", ("", "")),
    ],
)
def test_pod_and_container(text: str, expected: tuple[str, str]) -> None:
    assert parse_cgroup(text) == expected


def test_the_other_end_of_a_socket() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        who = identify(ours)
    assert (who.pid, who.uid, who.gid) == (os.getpid(), os.getuid(), os.getgid())


@pytest.mark.parametrize(
    ("cmdline", "program"),
    [
        ("/usr/bin/python3\0-u\0/home/a/train.py\0--lr\x001\0", "train.py"),
        ("/usr/bin/python3\0-m\0http.server\0", "python3"),
        ("python3.11\0", "python3.11"),
        ("./solver\0input.py\0", "solver"),
        ("", "kthread"),
    ],
)
def test_the_name_of_a_program(monkeypatch: pytest.MonkeyPatch, cmdline: str, program: str) -> None:
    files = {"cmdline": cmdline, "comm": "kthread\n"}
    monkeypatch.setattr(identity, "_read", lambda _pid, name: files[name])
    assert identity._program(1) == program


def test_a_process_that_cannot_be_seen() -> None:
    assert Identity(0, 1, 2).program == "?"
    assert identity._program(0) == "?"
