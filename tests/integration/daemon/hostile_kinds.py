"""Kinds of hostile clients, one function each: their actions, and the required outcome.

They run in the process of the test. Floods, which need a process of their own, are in hostile.py.
The list, with the outcome of each, is in docs/security.md.
"""

import array
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any

import pytest

from nvshare.cli.control import Daemon as Control
from nvshare.errors import NvshareError
from nvshare.launch.place import CONTROL_NAME, LOOK_NAME
from nvshare.wire import frames
from tests.integration.users import ALICE

from .client import Client, hello
from .conftest import Daemon

GIB = 1 << 30
MANY = 100
# On a busy machine.
SECONDS = 30.0


class Trouble:
    """The means of an attack; everything that it opens is closed with it."""

    def __init__(self, daemon: Daemon, gpu: str, honest: list[Client]) -> None:
        self.daemon = daemon
        self.gpu = gpu
        self.honest = honest
        self.stack = ExitStack()

    def __enter__(self) -> "Trouble":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stack.close()

    def connect(self) -> Client:
        """Connect, and send nothing."""
        client = self.stack.enter_context(Client(self.daemon.folder))
        client.sock.settimeout(SECONDS)
        return client

    def join(self, **changes: Any) -> Client:
        """Register a client."""
        client = self.connect()
        client.join(self.gpu, **changes)
        return client


def is_let_go(client: Client) -> bool:
    """Whether the daemon closes the connection, whatever it sends before."""
    try:
        while client.receive() is not None:
            pass
    except TimeoutError:
        return False
    return True


def send_until_refused(client: Client, data: bytes, times: int) -> bool:
    """Send the same again and again; return whether the daemon closes the connection."""
    try:
        for _ in range(times):
            client.sock.sendall(data)
    except OSError:
        return True
    return False


def half_a_frame(trouble: Trouble) -> None:
    """Half a HELLO, and silence: on many connections."""
    for _ in range(MANY):
        trouble.connect().sock.sendall(hello(trouble.gpu).pack()[:50])


def never_reads(trouble: Trouble) -> None:
    """Asks without end, and reads no answer: the daemon does not store the answers."""
    client = trouble.join()
    assert send_until_refused(client, frames.Ping(1).pack() * 100, 10_000)


def half_closed(trouble: Trouble) -> None:
    """Sends HELLO, and shuts down its sending side."""
    for _ in range(MANY):
        client = trouble.connect()
        client.send(hello(trouble.gpu))
        client.sock.shutdown(socket.SHUT_WR)


def descriptors(trouble: Trouble) -> None:
    """Sends as many unwanted descriptors as fit with every frame."""
    client = trouble.connect()
    null = os.open(os.devnull, os.O_RDONLY)
    trouble.stack.callback(os.close, null)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 250))]
    client.sock.sendmsg([hello(trouble.gpu).pack()], rights)
    for _ in range(MANY):
        client.sock.sendmsg([frames.Usage(1, 1, 1, 1).pack()], rights)
    client.be_welcome()


def a_byte_at_a_time(trouble: Trouble) -> None:
    """Sends its frames byte by byte."""
    client = trouble.connect()
    for byte in hello(trouble.gpu).pack() + frames.Ping(7).pack() * 20:
        client.sock.sendall(bytes([byte]))
    client.be_welcome()


def strange_names(trouble: Trouble) -> None:
    """Has a name and a version with terminal controls, line breaks, and invalid UTF-8."""
    data = hello(trouble.gpu, library_version="x" * 8).pack()
    data = data.replace(b"x" * 8, b"\n\x1b[2J\xff\xfe\xfd")
    program = (
        "import socket, sys\nsock = socket.socket(socket.AF_UNIX)\nsock.connect(sys.argv[1])\n"
    )
    program += f"sock.sendall({data!r})\nsock.recv(1)\nprint('in', flush=True)\nsys.stdin.read()\n"
    process = subprocess.Popen(
        [
            b"ev\nil\x1b[31m\xff\xc3",
            b"-S",
            b"-c",
            program,
            str(trouble.daemon.folder / "nvshare.sock"),
        ],
        executable=os.path.realpath(sys.executable),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    trouble.stack.callback(process.communicate, timeout=SECONDS)
    assert process.stdout is not None
    assert process.stdout.readline() == b"in\n"
    names = [one.program for one in trouble.daemon.control.status().clients]
    assert all(name.isprintable() for name in names), names
    assert "\x1b" not in trouble.daemon.log


def anothers_slot(trouble: Trouble) -> None:
    """Claims the slot that another has in the page of its group."""
    victim = trouble.honest[0]
    for _ in range(10):
        client = trouble.connect()
        client.join(trouble.gpu, slot_key=victim.slot_key)
        assert client.slot_key != victim.slot_key


def closes_what_it_gets(trouble: Trouble) -> None:
    """Wants turns, and closes every descriptor that it gets at once."""
    client = trouble.join()
    client.want()
    for _ in range(3):
        while not isinstance(frame := client.receive(), frames.Grant):
            assert frame is not None
            while client.descriptors:
                os.close(client.take_descriptor())
        client.release(frame.turn, wants=1)


def gives_back_what_it_has_not(trouble: Trouble) -> None:
    """Releases turns that it never had, including those of others."""
    newest = max(honest.last_turn for honest in trouble.honest if isinstance(honest, Honest))
    for turn in (1, newest, newest + 1, newest + 2):
        client = trouble.join()
        client.release(turn, wants=1)
    for turn in (newest, newest + 1):
        client = trouble.join()
        client.release(turn, handed_turn=turn + 1)


def a_gpu_that_is_not_there(trouble: Trouble) -> None:
    """Wants turns before it has joined, and joins a GPU that does not exist."""
    early = trouble.connect()
    early.want()
    assert is_let_go(early)
    stranger = trouble.connect()
    stranger.send(hello("GPU-00000000-0000-0000-0000-00000000dead"), frames.Want(0))
    assert is_let_go(stranger)


def memory_up_and_down(trouble: Trouble) -> None:
    """Has 12 GiB, and none, and 12 GiB, a thousand times."""
    client = trouble.join()
    for _ in range(500):
        client.send(frames.Memory(12 * GIB, 0, 0, 0), frames.Memory(0, 0, 0, 0))


def asks_and_asks(trouble: Trouble) -> None:
    """Asks for room for memory and contexts, a thousand times, and waits for no answer."""
    client = trouble.join()
    for number in range(1, 501):
        client.send(frames.Memory(number, 0, 0, number), frames.Context(number, 0))


def stopped_in_its_turn(trouble: Trouble) -> None:
    """Stops itself while it has the turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPS, str(trouble.daemon.folder), trouble.gpu],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    trouble.stack.callback(process.communicate)
    trouble.stack.callback(process.kill)
    # Honest programs give way to it as to any other.
    for honest in trouble.honest:
        assert isinstance(honest, Honest)
        honest.pass_on()
    assert process.stdout.readline() == b"has its turn\n"


STOPS = """
import os, signal, sys
from pathlib import Path
from nvshare.wire import frames
from tests.integration.daemon.client import Client
client = Client(Path(sys.argv[1]))
client.sock.settimeout(60)
client.join(sys.argv[2])
client.want()
while not isinstance(client.receive(), frames.Grant):
    pass
print("has its turn", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


def many_groups(trouble: Trouble) -> None:
    """Claims another group on each connection: each has a page of its own."""
    for number in range(1, MANY + 1):
        trouble.join(group=struct.pack(">QQ", 0xBAD, number))


def changes_its_own_limits(trouble: Trouble) -> None:
    """Tries changes on the read-only socket, and as another user on the control socket."""
    me, changes = str(os.getpid()), {"memory_limit": 1 << 50}
    with pytest.raises(NvshareError, match="this socket is read-only"):
        Control(trouble.daemon.folder / LOOK_NAME).change_limits(me, changes)
    if os.getuid() == 0:
        script = "import os, socket, sys\nos.chdir(sys.argv[1])\nos.setuid(int(sys.argv[2]))\n"
        script += f"socket.socket(socket.AF_UNIX).connect({CONTROL_NAME!r})\n"
        command = [sys.executable, "-c", script, str(trouble.daemon.folder), str(ALICE)]
        said = subprocess.run(command, capture_output=True, text=True)
        assert "PermissionError" in said.stderr


def never_can_go(trouble: Trouble) -> None:
    """Reports that its work cannot drain, and takes it back, again and again."""
    client = trouble.join()
    client.want()
    # At some point the daemon has had enough, and ends the connection.
    for turn in range(200):
        data = frames.CannotDrain(turn, frames.UndrainedReason(1)).pack()
        data += frames.CanDrain(turn).pack() + frames.Held(turn, 1, turn).pack()
        if send_until_refused(client, data, 1):
            break


def another_way_each_time(trouble: Trouble) -> None:
    """Allocates in one way and in another, hundreds of times."""
    client = trouble.join()
    kinds = list(frames.AllocationKind)
    for number in range(500):
        if send_until_refused(client, frames.Allocates(kinds[number % len(kinds)]).pack(), 1):
            break


def host_memory_of_others(trouble: Trouble) -> None:
    """Reports host memory that it never got, and a growing lack of it."""
    client = trouble.join()
    for number in range(500):
        client.send(frames.Host(number * GIB, number * GIB, 1 << 50, 1 << 50))


def holds_the_turn_of_another(trouble: Trouble) -> None:
    """Registers as the holder of another client's turn."""
    newest = max(honest.last_turn for honest in trouble.honest if isinstance(honest, Honest))
    for _ in range(5):
        client = trouble.connect()
        client.join(trouble.gpu, flags=frames.HelloFlags.RESUMING, turn=newest)


def gone_with_all_unread(trouble: Trouble) -> None:
    """Joins, wants a turn, and disconnects before it has read anything."""
    for _ in range(MANY):
        with suppress(OSError), Client(trouble.daemon.folder) as client:
            client.send(hello(trouble.gpu), frames.Want(0))


def changes_its_descriptors(trouble: Trouble) -> None:
    """Fills, truncates and grows every descriptor that it gets, and makes it block."""
    client = trouble.join()
    for size in (0, 1 << 40):
        with suppress(OSError):
            os.truncate(client.page, size)
    with suppress(OSError):
        os.fchmod(client.page, 0)
    os.set_blocking(client.page, True)
    assert os.fstat(client.page).st_size == os.fstat(trouble.honest[0].page).st_size


class Honest(Client):
    """A client that passes its turns on."""

    last_turn = 0

    def begin(self, gpu: str) -> None:
        """Join, and want a turn."""
        self.sock.settimeout(SECONDS)
        self.join(gpu)
        self.want()

    def pass_on(self) -> None:
        """Wait for a turn, skipping other frames, and release it."""
        while not isinstance(frame := self.receive(), frames.Grant):
            assert frame is not None, "an honest program was let go"
            while self.descriptors:
                os.close(self.take_descriptor())
        self.last_turn = frame.turn
        self.release(frame.turn, wants=1)


KINDS: list[Callable[[Trouble], None]] = [
    *(half_a_frame, never_reads, half_closed, descriptors, a_byte_at_a_time, strange_names),
    *(anothers_slot, closes_what_it_gets, gives_back_what_it_has_not, a_gpu_that_is_not_there),
    *(memory_up_and_down, asks_and_asks, stopped_in_its_turn, many_groups, never_can_go),
    *(changes_its_own_limits, another_way_each_time, host_memory_of_others, gone_with_all_unread),
    *(holds_the_turn_of_another, changes_its_descriptors),
]
