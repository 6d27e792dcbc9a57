"""The checks of ``nvshare doctor``. Each looks at one thing, and returns its findings."""

import ctypes
import os
import platform
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import nvshare
from nvshare.cli.control import Daemon
from nvshare.cli.status_table import notes
from nvshare.daemon.config import Sources, find_file
from nvshare.daemon.gpus.survey import survey_gpus
from nvshare.errors import NvshareError
from nvshare.lab.emulator.libraries import RUNTIMES, library_folder
from nvshare.launch.holders import TakenError, describe, find_holders, usable
from nvshare.launch.place import candidates, find_daemon
from nvshare.launch.preload import library
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.wire import environment
from nvshare.wire.places import SOCKET_NAME

_GIB = 1 << 30
_FEW_FILES = 4096


class State(Enum):
    """The result of a check."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """What was found, and what to do about it."""

    state: State
    what: str
    do: str | None = None


Check = Callable[[], Iterator[Finding]]


def _good(what: str) -> Finding:
    return Finding(State.GOOD, what)


def _bad(error: NvshareError) -> Finding:
    why = f" ({error.why})" if error.why else ""
    return Finding(State.BAD, f"{error.what}{why}", error.do)


def check_node() -> Iterator[Finding]:
    """Whether we are on an emulated node."""
    if node := os.environ.get(environment.EMULATOR_NODE):
        yield Finding(State.NOTE, f"this is an emulated node: {Path(node).name}")


def check_driver() -> Iterator[Finding]:
    """Whether there is a CUDA driver that can be loaded and initialised."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        yield Finding(
            State.BAD,
            f"the CUDA driver cannot be loaded ({error})",
            "install the NVIDIA driver, or use `nvshare emulate -- …`",
        )
        return
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    text = f"{version.value // 1000}.{version.value % 1000 // 10}"
    if result := driver.cuInit(0):
        yield Finding(
            State.BAD,
            f"the CUDA driver is installed ({text}), but cuInit fails with {result}",
            "check with nvidia-smi that the kernel module of the driver is loaded",
        )
    else:
        yield _good(f"CUDA driver, for CUDA {text}")


def check_runtime() -> Iterator[Finding]:
    """Which CUDA runtime programs get on an emulated node. On a real one they choose it."""
    if not os.environ.get(environment.EMULATOR_NODE):
        return
    loaded = loaded_libraries()
    for name in RUNTIMES:
        path = library_folder() / name
        if path in loaded:
            yield _good(f"CUDA runtime of the node: {path}, version {_runtime_version(path)}")
        else:
            yield Finding(
                State.BAD,
                f"programs that load {name} get another copy of it, and NVIDIA's runtime does not "
                "start on emulated GPUs",
                "LD_PRELOAD was changed: start the program with `nvshare emulate -- …`, or run "
                '`eval "$(nvshare emulate env)"` again',
            )


def loaded_libraries() -> set[Path]:
    """The files mapped into this process. A program started now would get the same ones."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {Path(line.split(maxsplit=5)[5]) for line in lines if "/" in line}


def _runtime_version(path: Path) -> str:
    version = ctypes.c_int()
    ctypes.CDLL(str(path)).cudaRuntimeGetVersion(ctypes.byref(version))
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def check_gpus() -> Iterator[Finding]:
    """Whether NVML lists GPUs."""
    try:
        found = survey_gpus()
    except NvshareError as error:
        yield _bad(error)
        return
    for gpu in found.gpus:
        yield _good(f"GPU {gpu.index}: {gpu.name}, {gpu.memory / _GIB:.1f} GiB, {gpu.uuid}")
    for one in found.missing:
        yield Finding(
            State.BAD,
            f"GPU {one.index} cannot be used ({one.why}); the others can",
            "a GPU that is lost needs a reset (nvidia-smi --gpu-reset) or a reboot",
        )


def check_library() -> Iterator[Finding]:
    """Whether the interposer is installed, and a program can load it."""
    try:
        path = library()
        ctypes.CDLL(str(path))
    except NvshareError as error:
        yield _bad(error)
    except OSError as error:
        yield Finding(
            State.BAD,
            f"libnvshare.so cannot be loaded ({error})",
            f"reinstall nvshare for this machine ({platform.machine()})",
        )
    else:
        yield _good(f"interposer: {path}")


def check_configuration() -> Iterator[Finding]:
    """Whether the configuration makes sense."""
    file = find_file(None, os.environ)
    try:
        Sources(file, dict(os.environ), {}).load()
    except NvshareError as error:
        yield _bad(error)
    else:
        yield _good(f"configuration: {file or 'no file, the defaults'}")


def check_socket() -> Iterator[Finding]:
    """Whether a daemon answers, and has our version."""
    try:
        folder = find_daemon(os.environ)
    except NvshareError as error:
        yield _bad(error)
        return
    if folder is None and (holder := usable(find_holders(os.environ))) is not None:
        yield Finding(State.NOTE, f"{holder.who} is used: it shares {holder.gpu}, and lets you in")
        return
    if folder is None:
        places = ", ".join(str(place / SOCKET_NAME) for place in candidates(os.environ))
        yield Finding(
            State.NOTE,
            f"no daemon is running (looked for {places})",
            "`nvshare run` starts one; `sudo nvshare service install` is for a whole machine",
        )
        return
    yield _good(f"daemon in {folder}")
    try:
        status = Daemon().status()
    except NvshareError as error:
        yield _bad(error)
        return
    if status.version == nvshare.__version__:
        yield _good(f"daemon {status.pid}, version {status.version}, {len(status.clients)} clients")
    else:
        yield Finding(
            State.BAD,
            f"the daemon has version {status.version}, and this command has version "
            f"{nvshare.__version__}",
            "restart the daemon; programs go on meanwhile",
        )
    yield from find_stuck(status)


def check_holders() -> Iterator[Finding]:
    """Which daemons hold the GPUs, and whether this user may use them."""
    holders = find_holders(os.environ)
    for pid in sorted({one.pid for one in holders}):
        theirs = [one for one in holders if one.pid == pid]
        if usable(theirs) is not None:
            yield _good(describe(theirs))
        else:
            yield _bad(TakenError(theirs))


def find_stuck(status: NodeStatus) -> Iterator[Finding]:
    """Which programs have memory that cannot leave a GPU, and whether others wait for it."""
    waits = any(client.held_up for client in status.clients)
    for note in notes(status):
        what, _, do = note.partition("; ")
        yield Finding(State.BAD if waits else State.NOTE, what, do or None)


def check_files() -> Iterator[Finding]:
    """Whether the daemon may open enough files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= _FEW_FILES:
        yield _good(f"open files: up to {hard}")
    else:
        yield Finding(
            State.NOTE,
            f"a process may open {hard} files, and each client takes one",
            "raise it (ulimit -Hn, or LimitNOFILE= of the service)",
        )


CHECKS: tuple[Check, ...] = (
    check_node,
    check_driver,
    check_runtime,
    check_gpus,
    check_library,
    check_configuration,
    check_socket,
    check_holders,
    check_files,
)
