"""The quota page of a group in the hands of a hostile member: it harms only itself."""

import array
import os
import secrets
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

import pytest

from nvshare.daemon.groups.quota_page import CHECK, HEADER_SIZE, NO_LIMIT, SIZE, SLOT_SIZE, Page
from nvshare.launch.preload import Wishes
from nvshare.wire.frames import Quota

from ..daemon.client import Client, hello
from ..interposer.conftest import Guest
from .conftest import Sharing

MIB, GIB = 1 << 20, 1 << 30
OUT_OF_MEMORY = 2


@pytest.fixture
def sharing(share: Callable[..., Sharing]) -> Sharing:
    return share("1xt4", speed=20, data="off")


class Group:
    """Processes of one `nvshare run`, with a limit of one GiB."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._token = secrets.token_hex(16)

    def guest(self) -> Guest:
        guest = self._sharing.guest(Wishes(memory_limit=GIB), NVSHARE_GROUP=self._token)
        assert guest.ask("gpu.init() or gpu.info()[0] > 0") is True
        return guest

    def client(self) -> Client:
        """A member that breaks all rules."""
        return Client(self._sharing.node.folder / "daemon")

    def join(self, client: Client, descriptor: int = -1, **changes: int) -> None:
        uuid = self._sharing.daemon().status().devices[0].uuid
        frame = hello(uuid, group=bytes.fromhex(self._token), memory_limit=GIB, **changes)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))
        client.sock.sendmsg([frame.pack()], [rights] if descriptor >= 0 else [])


def test_a_member_that_does_everything_to_the_page_kills_nobody(sharing: Sharing) -> None:
    group = Group(sharing)
    honest = group.guest()
    assert honest.ask("gpu.alloc(100 << 20)")[0] == 0
    with group.client() as hostile:
        group.join(hostile)
        hostile.be_welcome()
        for size in (0, 1, SIZE - 1, SIZE + 1, 2 * GIB):
            with pytest.raises(PermissionError):
                os.ftruncate(hostile.page, size)
        # Root may; descriptors that are open already are not affected.
        with suppress(PermissionError):
            os.fchmod(hostile.page, 0)
        assert honest.ask("gpu.alloc(100 << 20)")[0] == 0
        # A plausible limit, and no use by any member.
        os.pwrite(hostile.page, struct.pack("<QQI", NO_LIMIT, NO_LIMIT ^ CHECK, 0), 8)
        assert honest.ask("gpu.alloc(825 << 20)")[0] == OUT_OF_MEMORY
        assert honest.ask("gpu.alloc(100 << 20)")[0] == 0
        # Nonsense everywhere, again and again: it goes on, though it may be refused something.
        for content in (b"\xff" * SIZE, os.urandom(SIZE), bytes(SIZE)):
            os.pwrite(hostile.page, content, 0)
            assert honest.ask("gpu.alloc(1 << 30)")[0] == OUT_OF_MEMORY
            assert honest.ask("gpu.launch(10)") == 0
        os.pwrite(hostile.page, b"\xff" * SLOT_SIZE, HEADER_SIZE + SLOT_SIZE)
    # It has left; the daemon repairs its own entries, and the members report their use.
    sharing.until_status(lambda status: len(status.clients) == 1)
    sharing.daemon().groups()
    assert honest.ask("gpu.alloc(1 << 20)")[0] == 0
    assert honest.ask("gpu.info()") == [(1024 - 301) * MIB, GIB]
    assert honest.ask("gpu.alloc(724 << 20)")[0] == OUT_OF_MEMORY
    assert honest.ask("gpu.alloc(723 << 20)")[0] == 0


def test_a_newcomer_waits_for_the_page_that_others_bring_back(sharing: Sharing) -> None:
    group = Group(sharing)
    one = group.guest()
    assert one.ask("gpu.alloc(1000 << 20)")[0] == 0
    sharing.kill_daemon()
    os.kill(one.process.pid, signal.SIGSTOP)
    sharing.start_daemon()
    with group.client() as newcomer:
        group.join(newcomer)
        # Nothing comes, not even QUOTA: the use of the other member would not count.
        newcomer.sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            newcomer.sock.recv(1)
        newcomer.sock.settimeout(10)
        os.kill(one.process.pid, signal.SIGCONT)
        newcomer.be_welcome()
        used = os.pread(newcomer.page, 8, HEADER_SIZE + 8)
        assert int.from_bytes(used, "little") == 1000 * MIB
    two = group.guest()
    assert two.ask("gpu.info()") == one.ask("gpu.info()") == [24 * MIB, GIB]


def test_a_page_that_is_none_is_not_taken_from_a_member(sharing: Sharing) -> None:
    group = Group(sharing)
    unsealed = os.memfd_create("page")
    os.pwrite(unsealed, os.pread(Page.make().descriptor, SIZE, 0), 0)
    with group.client() as hostile:
        group.join(hostile, unsealed, slot_key=5)
        quota = hostile.expect(Quota)
        assert quota.slot_key != 5
        given = hostile.take_descriptor()
        assert os.fstat(given).st_ino != os.fstat(unsealed).st_ino
        with pytest.raises(PermissionError):
            os.ftruncate(given, 0)
        os.close(given)
    os.close(unsealed)
