"""fork, exec, and other ways in which programs are not one thread that begins at main."""

import json
import os
import subprocess
import sys

import pytest

from nvshare.wire.frames import Grant, Standby

from .conftest import GUEST, Guest
from .scripted import Scripted, hand_over_ends

NOT_INITIALIZED = 3
CHILD = "[gpu.init(), gpu.alloc(1000)[0], gpu.info()[0] - gpu.info()[1], gpu.launch(10)]"


def test_fork_before_cuda(scripted: Scripted, guest: Guest) -> None:
    """Parent and child are two programs, each with its own registration."""
    guest.ask(f'gpu.start(\'setattr(gpu, "child", gpu.fork("{CHILD}"))\')')
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 20)")
    assert json.loads(guest.ask("gpu.child")) == [0, 0, -1000, 0]
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    own = scripted.accept()
    assert own.welcome().allocated == 0
    own.send(Grant(turn=2, fill_bytes=0))
    assert guest.ask("gpu.done(1, 10)")


def test_fork_after_cuda(scripted: Scripted, guest: Guest) -> None:
    """The driver does not work in such a child, and returns an error; the parent is unaffected."""
    guest.ask("gpu.start('gpu.init() or gpu.alloc(5000)[0] or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert json.loads(guest.ask(f"gpu.fork('{CHILD}')")) == [NOT_INITIALIZED] * 2 + [
        0,
        NOT_INITIALIZED,
    ]
    with pytest.raises(TimeoutError):
        scripted.accept(0.2)
    assert guest.ask("gpu.launch(10)") == 0
    free, total = guest.ask("gpu.info()")
    assert total - free == 5000


def test_a_child_does_not_keep_the_connection_open(scripted: Scripted, guest: Guest) -> None:
    """The daemon has to notice the end of the parent, whatever its children do."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    guest.ask("gpu.start('gpu.fork(\"gpu.sleep(3)\")')")
    guest.process.kill()
    assert link.ends(seconds=2)


def test_a_child_does_not_keep_the_standby(scripted: Scripted, guest: Guest) -> None:
    """The parent's threads wait at the gate while one of them forks."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=1, fill_bytes=0), theirs)
    link.until_taken_in()
    assert not guest.ask("gpu.done(0, 0.1)")
    # The connection, the standby, and two bells with two ends each.
    assert guest.ask("gpu.count_descriptors('socket')") == 6
    in_child = "gpu.count_descriptors('socket')"
    assert json.loads(guest.ask(f"gpu.fork({in_child!r})")) == 0
    os.write(ours, b"1")
    assert guest.ask("gpu.done(0, 10)")


def test_exec_keeps_nothing(scripted: Scripted, guest: Guest) -> None:
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.process.stdin is not None
    command = f"os.execv({sys.executable!r}, [{sys.executable!r}, {str(GUEST)!r}])\n"
    guest.process.stdin.write(command)
    guest.process.stdin.flush()
    assert link.ends()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    assert scripted.accept().welcome().turn == 0


def test_threads_that_come_and_go(scripted: Scripted, guest: Guest) -> None:
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    for _ in range(200):
        guest.ask("gpu.start('gpu.launch(200)')")
    assert guest.ask("all(gpu.done(i, 20) for i in range(1, 201))")
    assert guest.ask("gpu.launches") == 200 * 200 + 1


def test_output_is_the_programs_own(environment: dict[str, str]) -> None:
    """Nothing on stdout, ever; and the debug log goes to its file."""
    script = f"exec(open({str(GUEST)!r}).read().split('if __name__')[0]); print(Gpu().init())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            **environment,
            "NVSHARE_LOG": "debug",
            "NVSHARE_LOG_FILE": "/dev/null",
            "PYTHONPATH": str(GUEST.parent),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
