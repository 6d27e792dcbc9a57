"""Programs and commands look for the daemon at the same places, and trust the same users."""

import os
import subprocess
from itertools import product

import pytest

from nvshare.launch.place import candidates
from nvshare.launch.trust import Believer, File, Trust
from nvshare.wire.places import SOCKET_NAME

from .conftest import Build

PARTS = (
    *("trust_check", "trust.c", "config.c", "limits.c", "variables.c"),
    *("../common/descriptor.c", "../common/log.c", "../common/quantity.c"),
)
FOLDER, SOCKET, LINK = 0o040000, 0o140000, 0o120000
ROOT, ME, NAMED, OTHER = 0, 1000, 1001, 1002


def judge(believer: Believer, folder: tuple[int, int], sock: tuple[int, int], peer: int) -> Trust:
    verdict = believer.place(File(*folder), File(*sock))
    return believer.peer(File(*folder), peer) if verdict == Trust.YES else verdict


def test_both_rules_say_the_same(build: Build) -> None:
    owners = (ROOT, ME, NAMED, OTHER)
    modes = [FOLDER | mode for mode in (0o700, 0o755, 0o775, 0o757, 0o1777)]
    folders = list(product((*modes, LINK | 0o777), owners))
    sockets = list(product((SOCKET | 0o666, SOCKET | 0o600, 0o100666), owners))
    cases = list(product((ROOT, ME), (None, NAMED), (False, True), folders, sockets, owners))
    lines = [
        f"{me} {-1 if named is None else named} {int(machine)} "
        f"{folder[0]} {folder[1]} {sock[0]} {sock[1]} {peer}\n"
        for me, named, machine, folder, sock, peer in cases
    ]
    program = build(*PARTS)
    done = subprocess.run(
        [program, "verdicts"], input="".join(lines), capture_output=True, text=True, check=True
    )
    ours = [
        judge(Believer(me, named, machine), folder, sock, peer)
        for me, named, machine, folder, sock, peer in cases
    ]
    assert [Trust(int(line)) for line in done.stdout.split()] == ours
    assert set(ours) == set(Trust)


@pytest.mark.parametrize(
    ("believer", "folder", "sock", "peer", "verdict"),
    [
        (Believer(ME), (FOLDER | 0o700, ME), (SOCKET | 0o600, ME), ME, Trust.YES),
        (Believer(ME), (FOLDER | 0o755, ROOT), (SOCKET | 0o666, ROOT), ROOT, Trust.YES),
        # An impostor has made the folder, or has got hold of one that is ours.
        (Believer(ME), (FOLDER | 0o755, OTHER), (SOCKET | 0o666, ME), ME, Trust.FOLDER_OWNER),
        (Believer(ME), (FOLDER | 0o777, ME), (SOCKET | 0o666, ME), ME, Trust.FOLDER_MODE),
        (Believer(ME), (LINK | 0o777, ME), (SOCKET | 0o666, ME), ME, Trust.NO_FOLDER),
        (Believer(ME), (FOLDER | 0o700, ME), (LINK | 0o777, ME), ME, Trust.NO_SOCKET),
        (Believer(ME), (FOLDER | 0o700, ME), (SOCKET | 0o666, OTHER), ME, Trust.SOCKET_OWNER),
        (Believer(ME), (FOLDER | 0o700, ME), (SOCKET | 0o666, ME), OTHER, Trust.PEER),
        # Root does not trust every user either.
        (Believer(ROOT), (FOLDER | 0o755, ME), (SOCKET | 0o666, ME), ME, Trust.FOLDER_OWNER),
        # A daemon whose user was named, and one of the machine that does not run as root.
        (Believer(ME, NAMED), (FOLDER | 0o755, NAMED), (SOCKET | 0o666, NAMED), NAMED, Trust.YES),
        (
            Believer(ME, is_machine=True),
            (FOLDER | 0o755, OTHER),
            (SOCKET | 0o666, OTHER),
            OTHER,
            Trust.YES,
        ),
        (
            Believer(ME, is_machine=True),
            (FOLDER | 0o755, ROOT),
            (SOCKET | 0o666, ROOT),
            OTHER,
            Trust.PEER,
        ),
    ],
)
def test_who_is_believed(
    believer: Believer, folder: tuple[int, int], sock: tuple[int, int], peer: int, verdict: Trust
) -> None:
    assert judge(believer, folder, sock, peer) == verdict


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"XDG_RUNTIME_DIR": "/run/user/1000"},
        {"XDG_RUNTIME_DIR": ""},
        {"NVSHARE_SOCKET_DIR": "/x", "XDG_RUNTIME_DIR": "/y"},
        {"NVSHARE_EMULATOR_NODE": "/n", "XDG_RUNTIME_DIR": "/y"},
        {"NVSHARE_EMULATOR_NODE": "/n", "NVSHARE_SOCKET_DIR": "/x"},
        {"NVSHARE_SOCKET_DIR": "", "NVSHARE_EMULATOR_NODE": ""},
    ],
)
@pytest.mark.parametrize("uid", [os.getuid(), pytest.param(61001, marks=pytest.mark.needs("root"))])
def test_both_look_at_the_same_places(
    build: Build, monkeypatch: pytest.MonkeyPatch, uid: int, environ: dict[str, str]
) -> None:
    become = ["setpriv", f"--reuid={uid}", "--clear-groups"] if uid != os.getuid() else []
    # The program may lie where only we can go: it is opened before we change the user.
    with build(*PARTS).open("rb") as program:
        command = [*become, f"/proc/self/fd/{program.fileno()}", "sockets"]
        done = subprocess.run(
            command,
            env={"PATH": os.environ["PATH"], **environ},
            capture_output=True,
            text=True,
            check=True,
            pass_fds=[program.fileno()],
        )
    monkeypatch.setattr("os.getuid", lambda: uid)
    places = [str(folder / SOCKET_NAME) for folder in candidates(environ)]
    assert done.stdout.splitlines() == places
