"""What tenants may try that want more than their part, and what that costs the others: little.

Each attack is short, and judged by counts, or by what the same run gave without it. The list of
them, with what happens, is in docs/security.md.
"""

from nvshare.wire import frames
from protocol.boundaries import cases

from .client import Client, hello
from .conftest import Daemon

MIB = 1 << 20


def is_let_go(client: Client) -> bool:
    """Whether the daemon closes the connection, whatever it says before."""
    try:
        while client.receive() is not None:
            pass
    except TimeoutError:
        return False
    return True


def errors_of(daemon: Daemon) -> list[str]:
    """What the daemon has logged as its own mistakes."""
    return [line for line in daemon.log.splitlines() if " error " in line or "Traceback" in line]


def test_every_number_at_every_edge(daemon: Daemon) -> None:
    """One that cannot be ends that connection; one that can be ends nothing else."""
    gpu = daemon.gpus[1]
    bystander = daemon.connect()
    bystander.join(gpu)
    bystander.expect(frames.Grant)
    greeting = hello(gpu).pack()
    for case in cases("client"):
        client = Client(daemon.folder)
        is_hello = case.frame.number == frames.Hello.TYPE
        data = case.bytes if is_hello else greeting + case.bytes
        if is_hello:
            # Of a GPU that there is, or nothing else would be looked at.
            head = frames.HEADER.size
            data = data[:head] + greeting[head : head + 16] + data[head + 16 :]
        client.sock.sendall(data)
        if not case.is_good:
            assert is_let_go(client), case
        client.close()
    bystander.send(frames.Memory(MIB, 0, 0, 7))
    while not isinstance(frame := bystander.receive(), frames.Answer):
        assert frame is not None, "the bystander was let go"
    assert [one.program for one in daemon.control.status().clients] != []
    assert errors_of(daemon) == []
