"""Runs a user's command: passes signals on to it, and returns its exit code."""

import signal
import subprocess
from collections.abc import Mapping, Sequence

from nvshare.errors import NvshareError

_FORWARDED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
# The child is polled as well: if there are other threads, one of them may take SIGCHLD.
_LOOK_SECONDS = 0.5


class CannotStartError(NvshareError):
    """The command was not found, or is not a program; exit codes are those of a shell."""

    def __init__(self, command: str, error: OSError) -> None:
        super().__init__(
            f'the command "{command}" cannot be started',
            why=error.strerror,
            do="check its name and whether it can be executed",
        )
        self.exit_code = 127 if isinstance(error, FileNotFoundError) else 126


def run_child(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end; return its exit code, or 128 + the signal that ended it.

    Signals are blocked here and taken one by one, SIGCHLD included, so that none is lost and none
    interrupts anything.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED | {signal.SIGCHLD})
    try:
        child = subprocess.Popen(
            command,
            env=environment,
            # The child would inherit the blocked signals. There is one thread here, so running
            # Python between fork and exec is safe.
            preexec_fn=lambda: _set_mask(before),
        )
    except OSError as error:
        _set_mask(before)
        raise CannotStartError(command[0], error) from error
    try:
        _attend(child)
    finally:
        _set_mask(before)
    code = child.wait()
    return code if code >= 0 else 128 - code


def _attend(child: "subprocess.Popen[bytes]") -> None:
    while child.poll() is None:
        received = signal.sigtimedwait(_FORWARDED | {signal.SIGCHLD}, _LOOK_SECONDS)
        if received is None or received.si_signo == signal.SIGCHLD:
            continue
        # A signal from the terminal has no sender, and went to the whole foreground group, the
        # child included: passing it on would deliver it twice.
        if received.si_pid != 0:
            child.send_signal(received.si_signo)


def _set_mask(mask: "set[int | signal.Signals]") -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
