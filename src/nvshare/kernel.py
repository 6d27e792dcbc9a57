"""System calls that not every Python has: for processes and for memory files.

A Python that was built for old systems, such as that of uv or of conda, leaves out of ``os``,
``signal`` and ``fcntl`` whatever the old headers did not have, although the running kernel has it.
So these calls are always made directly. Calls that every Python has do not belong here.
"""

import ctypes
import fcntl
import os
import platform
import signal
from collections.abc import Callable
from functools import cache

# The same numbers on every architecture.
_PIDFD_SEND_SIGNAL = 424
_PIDFD_OPEN = 434
_MEMFD_CREATE = {"x86_64": 319, "aarch64": 279}
# From <linux/memfd.h> and <linux/fcntl.h>.
_MFD_CLOEXEC, _MFD_ALLOW_SEALING = 0x1, 0x2
_F_ADD_SEALS, _F_GET_SEALS = 1033, 1034
_F_SEAL_WRITE, _F_SEAL_FUTURE_WRITE = 0x8, 0x10
# Seal, shrink, grow.
_SIZE_SEALS = 0x1 | 0x2 | 0x4


def pidfd_open(pid: int) -> int:
    """Return a descriptor of a process, which becomes readable when the process ends."""
    return _call(_PIDFD_OPEN, pid, 0)


def pidfd_send_signal(descriptor: int, number: signal.Signals) -> None:
    """Send a signal to the process of a descriptor, even if its pid was reused."""
    _call(_PIDFD_SEND_SIGNAL, descriptor, int(number), 0, 0)


def memory_file(name: str) -> int:
    """Return the descriptor of a new memory file, which can be sealed."""
    number = _MEMFD_CREATE[platform.machine()]
    return _call(number, ctypes.c_char_p(os.fsencode(name)), _MFD_CLOEXEC | _MFD_ALLOW_SEALING)


def seal_size(descriptor: int) -> None:
    """Seal the size of a memory file permanently."""
    fcntl.fcntl(descriptor, _F_ADD_SEALS, _SIZE_SEALS)


def has_sealed_size(descriptor: int) -> bool:
    """Whether a file is a memory file with a sealed size that can still be written."""
    try:
        seals = fcntl.fcntl(descriptor, _F_GET_SEALS)
    except OSError:
        return False
    return seals & _SIZE_SEALS == _SIZE_SEALS and not seals & (_F_SEAL_WRITE | _F_SEAL_FUTURE_WRITE)


def _call(number: int, *arguments: int | ctypes.c_char_p) -> int:
    # The kernel reads whole registers.
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = _syscall()(ctypes.c_long(number), *wide)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


@cache
def _syscall() -> Callable[..., int]:
    """Return libc's function. Looking it up makes classes, which are slow to be collected."""
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return syscall
