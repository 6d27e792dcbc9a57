import errno
import os
import signal
import socket
import subprocess
import sys

import pytest

from nvshare.daemon.tenants import identity
from nvshare.daemon.tenants.identity import Caller, Identity, identify, parse_cgroup

POD = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
UNDERSCORED = POD.replace("-", "_")
HASH = "3f2e1d0c9b8a7968574635241302f1e0"
CONTAINER = "a" * 64
NODE = "b" * 64
BURSTABLE = f"kubepods-burstable-pod{UNDERSCORED}.slice"
IN_POD = (POD, CONTAINER)

# Where container runtimes put containers, as /proc/<pid>/cgroup shows it.
CGROUPS = {
    # cgroup v2, systemd driver
    "containerd": (
        f"0::/kubepods.slice/kubepods-burstable.slice/{BURSTABLE}/cri-containerd-{CONTAINER}.scope",
        IN_POD,
    ),
    "cri-o": (
        f"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UNDERSCORED}.slice/crio-{CONTAINER}.scope",
        IN_POD,
    ),
    "cri-o, crun": (f"0::/kubepods.slice/{BURSTABLE}/crio-{CONTAINER}.scope/container", IN_POD),
    "cri-dockerd": (f"0::/kubepods.slice/{BURSTABLE}/docker-{CONTAINER}.scope", IN_POD),
    "guaranteed": (
        f"0::/kubepods.slice/kubepods-pod{UNDERSCORED}.slice/cri-containerd-{CONTAINER}.scope",
        IN_POD,
    ),
    # cgroup v2, cgroupfs driver
    "cgroupfs": (f"0::/kubepods/besteffort/pod{POD}/{CONTAINER}", IN_POD),
    "cgroupfs, guaranteed": (f"0::/kubepods/pod{POD}/{CONTAINER}", IN_POD),
    "k3s": (f"0::/kubepods/burstable/pod{POD}/{CONTAINER}", IN_POD),
    # cgroup v1
    "v1": (
        f"4:memory:/kubepods/pod{POD}/{CONTAINER}\n1:name=systemd:/kubepods/pod{POD}/{CONTAINER}",
        IN_POD,
    ),
    "v1, only some controllers": (
        f"12:rdma:/\n4:memory:/kubepods/burstable/pod{POD}/{CONTAINER}\n0::/",
        IN_POD,
    ),
    "v1, containerd in a systemd slice": (
        f"1:name=systemd:/system.slice/containerd.service/{BURSTABLE}:cri-containerd:{CONTAINER}",
        IN_POD,
    ),
    "v1, cri-o": (f"11:cpuset:/kubepods.slice/{BURSTABLE}/crio-{CONTAINER}.scope", IN_POD),
    # seen from a cgroup namespace, as a daemon in a pod sees others
    "from another pod": (f"0::/../../{BURSTABLE}/cri-containerd-{CONTAINER}.scope", IN_POD),
    "from another class": (
        f"0::/../../../kubepods-burstable.slice/{BURSTABLE}/crio-{CONTAINER}.scope",
        IN_POD,
    ),
    "from another pod, cgroupfs": (f"0::/../../pod{POD}/{CONTAINER}", IN_POD),
    # a node that is a container itself
    "kind": (
        f"0::/docker/{NODE}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UNDERSCORED}.slice/cri-containerd-{CONTAINER}.scope",
        IN_POD,
    ),
    "kind, v1": (
        f"12:memory:/docker/{NODE}/kubelet/kubepods/besteffort/pod{POD}/{CONTAINER}",
        IN_POD,
    ),
    # a container with cgroups of its own
    "systemd in a container": (
        f"0::/kubepods/pod{POD}/{CONTAINER}/system.slice/worker.service",
        IN_POD,
    ),
    "docker in a container": (f"0::/kubepods/pod{POD}/{CONTAINER}/docker/{NODE}", IN_POD),
    # pods from files
    "static": (f"0::/kubepods/burstable/pod{HASH}/{CONTAINER}", (HASH, CONTAINER)),
    "static, systemd": (
        f"0::/kubepods.slice/kubepods-burstable-pod{HASH}.slice/crio-{CONTAINER}.scope",
        (HASH, CONTAINER),
    ),
    # a pod, and nothing more
    "the pod itself": (f"0::/kubepods/pod{POD}", (POD, "")),
    # no pod at all
    "docker": (f"0::/system.slice/docker-{CONTAINER}.scope", ("", CONTAINER)),
    "podman": (f"0::/machine.slice/libpod-{CONTAINER}.scope/container", ("", CONTAINER)),
    "a person": ("0::/user.slice/user-1000.slice/session-3.scope", ("", "")),
    "root": ("0::/", ("", "")),
    "nothing": ("", ("", "")),
}


@pytest.mark.parametrize(("text", "expected"), CGROUPS.values(), ids=CGROUPS)
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
        ("./\x1b]0;you are root\x07\x1b[31msolver\0", "?]0;you are root??[31msolver"),
        ("./" + "x" * 64 + "\0", "x" * 64),
        ("./" + "x" * 100_000 + "\0", "x" * 63 + "…"),
    ],
)
def test_the_name_of_a_program(monkeypatch: pytest.MonkeyPatch, cmdline: str, program: str) -> None:
    files = {"cmdline": cmdline, "comm": "kthread\n"}
    monkeypatch.setattr(identity, "_read", lambda _pid, name: files[name])
    assert identity._program(1) == program


def test_one_who_cannot_be_asked_about_is_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without descriptors its pod would not be known, and the pod's limits would not hold."""

    def refuse(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            identify(ours)


def test_a_user_who_has_logged_in_is_one_tenant_whatever_cgroups_it_makes() -> None:
    session = "0::/user.slice/user-1000.slice/user@1000.service"
    made_up = f"{session}/user.slice/libpod-{CONTAINER}.scope/container"
    assert Caller(7, 165536, 165536, made_up).tenant == "user 1000"
    assert Caller(7, 1000, 1000, f"{session}/app.slice").tenant == "user 1000"
    # A cgroup with such a name within a container belongs to that container.
    inside = f"0::/system.slice/docker-{CONTAINER}.scope/user.slice/user-1000.slice"
    assert Caller(7, 1000, 1000, inside).tenant == f"container {CONTAINER}"
    assert Caller(7, 1000, 1000, "0::/system.slice/cron.service").tenant == "user 1000"


def test_a_process_that_cannot_be_seen() -> None:
    assert Identity(0, 1, 2).program == "?"
    assert identity._program(0) == "?"


STAT = "7 (a) b) S 1 7 7 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0"


@pytest.mark.parametrize(
    ("files", "is_known"),
    [
        ({"cgroup": "0::/\n", "stat": STAT.format(flags=0x400000)}, True),
        # It is ending: /proc already shows it in no cgroup.
        ({"cgroup": "4:memory:/\n", "stat": STAT.format(flags=0x400004)}, False),
        ({"cgroup": f"0::/kubepods/pod{POD}/{CONTAINER}", "stat": STAT.format(flags=4)}, True),
        # It has gone, or /proc hides it.
        ({"cgroup": "", "stat": ""}, False),
    ],
)
def test_one_of_whom_nothing_can_be_found_out_is_not_one_without_a_pod(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], is_known: bool
) -> None:
    asked: list[str] = []

    def read(_pid: int, name: str) -> str:
        asked.append(name)
        return files.get(name, "")

    monkeypatch.setattr(identity, "_read", read)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert identity.identify_caller(ours).is_known is is_known
        who = identify(ours)
    assert who.is_known is is_known
    # No time is spent on a process that is turned away.
    assert ("cmdline" in asked) is is_known
    assert who.started == (4242 if files["stat"] else 0)


def test_a_process_that_has_left_its_connection_to_another_is_not_known() -> None:
    """The kernel names the process that has connected."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0nvshare-test-{os.getpid()}")
        listener.listen()
        script = f"""
import os, socket, time
one = socket.socket(socket.AF_UNIX)
one.connect({listener.getsockname()!r})
os.fork() or time.sleep(60)
"""
        done = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
        try:
            done.wait()
            with listener.accept()[0] as sock:
                who = identify(sock)
        finally:
            os.killpg(done.pid, signal.SIGKILL)
    assert (who.pid, who.is_known) == (done.pid, False)
