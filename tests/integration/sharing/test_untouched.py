"""Memory that a program allocates and never uses: it is never moved, and causes no paging."""

from collections.abc import Callable

import pytest

from nvshare.lab.emulator.report import read_report

from ..interposer.conftest import Guest
from .conftest import Sharing

pytestmark = pytest.mark.timed

Share = Callable[..., Sharing]
MIB = 1 << 20
# CU_DEVICE_INVALID: it was never anywhere.
NOWHERE = -2


def allocate(guest: Guest, mib: int) -> int:
    code, pointer = guest.ask(f"gpu.alloc({mib * MIB})")
    assert code == 0
    return int(pointer)


def use(guest: Guest, pointer: int) -> None:
    assert guest.ask(f"gpu.touch({pointer})") == 0
    assert guest.ask("gpu.sync()") == 0


def test_the_half_that_is_never_used_never_crosses_the_bus(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    half, whole = sharing.guest(), sharing.guest()
    for guest in (half, whole):
        assert guest.ask("gpu.init()") == 0
    used, unused = allocate(half, 6000), allocate(half, 6000)
    other = allocate(whole, 12000)
    for _ in range(4):
        use(half, used)
        use(whole, other)
    account = sharing.account(half.process.pid)
    # It has been away, and came back: only with the memory that it uses.
    assert account.in_bytes > 0
    assert max(account.in_bytes, account.out_bytes) <= 4 * 6000 * MIB
    assert account.resident_bytes <= 6000 * MIB
    assert half.ask(f"gpu.place({unused})") == NOWHERE
    process = read_report(sharing.node.folder).process(half.process.pid)
    assert process is not None
    assert process.host_bytes <= 6000 * MIB
