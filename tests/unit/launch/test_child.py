import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nvshare.launch.child import CannotStartError, run_child

# A process with one thread, like the command line. Processes that run tests have more.
PARENT = """
import os, signal, sys
from nvshare.launch.child import run_child
before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
code = run_child(sys.argv[1:], os.environ)
assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before
sys.exit(code)
"""

# Counts the signals of one kind that it receives until its input ends; exits with that number.
COUNTS = """
import os, select, signal, sys
count = 0
def on_signal(*_):
    global count
    count += 1
    print("signal", flush=True)
signal.signal({signal}, on_signal)
print("ready", flush=True)
# Not one long read: a signal just before it would be seen only when the input ends.
while not select.select([0], [], [], 0.05)[0] or os.read(0, 1000):
    pass
sys.exit(10 + count)
"""


def shell(script: str, **environment: str) -> int:
    command = [sys.executable, "-c", PARENT, "/bin/sh", "-c", script]
    return subprocess.run(command, env={**os.environ, **environment}, timeout=60).returncode


def start(child: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, sys.executable, "-c", child],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_the_exit_code_is_passed_on(code: int) -> None:
    assert shell(f"exit {code}") == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_a_signal_that_ended_it_is_128_and_more(name: str) -> None:
    # A core file would be litter.
    assert shell(f"ulimit -c 0; kill -{name} $$") == 128 + signal.Signals[f"SIG{name}"]


def test_the_environment_is_the_one_given() -> None:
    assert shell('test "$FRUIT" = plum', FRUIT="plum") == 0


def test_the_child_has_no_signal_blocked() -> None:
    assert shell("grep -q '^SigBlk:[[:space:]]*0*$' /proc/self/status") == 0


def test_signals_are_as_before_afterwards() -> None:
    """Here if there was no child; PARENT looks where there was one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(CannotStartError):
        run_child(["/does/not/exist"], {})
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(CannotStartError) as caught:
        run_child(["/does/not/exist"], {})
    assert caught.value.exit_code == 127


def test_a_command_that_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(CannotStartError) as caught:
        run_child([str(tmp_path)], {})
    assert caught.value.exit_code == 126


def test_its_end_is_noticed_though_another_thread_has_got_the_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = subprocess.Popen.poll

    def look_and_wait(child: "subprocess.Popen[bytes]") -> int | None:
        found = look(child)
        if found is None:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        return found

    monkeypatch.setattr(subprocess.Popen, "poll", look_and_wait)
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    try:
        assert run_child(["/bin/true"], {}) == 0
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_from_a_process_is_forwarded_once(name: str) -> None:
    with start(COUNTS.format(signal=f"signal.{name}")) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.send_signal(signal.Signals[name])
        assert parent.stdout.readline() == "signal\n"
        parent.stdin.close()
        assert parent.wait() == 11


def test_control_c_reaches_the_child_once() -> None:
    controller, terminal = os.openpty()
    take_terminal = (
        "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    child = COUNTS.format(signal="signal.SIGINT")
    command = [sys.executable, "-c", take_terminal, "-c", PARENT, sys.executable, "-c", child]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "ready\n"
            os.write(controller, b"\x03")
            assert parent.stdout.readline() == "signal\n"
            # The end of input, typed: again and again, since a terminal forgets what was typed
            # when it passes a signal on.
            while parent.poll() is None:
                os.write(controller, b"\x04")
                time.sleep(0.01)
            assert parent.returncode == 11
        finally:
            # Otherwise a process that waits for it would wait for ever.
            parent.kill()
    os.close(controller)
    os.close(terminal)
