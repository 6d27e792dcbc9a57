"""A program's memory beyond its allocations is read from NVML, and counts for admission."""

from collections.abc import Callable

from nvshare.launch.preload import Wishes
from nvshare.settings import DeviceSettings

from .conftest import Sharing

MIB = 1 << 20
GIB = 1 << 30

Share = Callable[..., Sharing]


def test_context_and_modules_are_measured_and_managed_memory_is_not_among_them(
    share: Share,
) -> None:
    sharing = share("t4")
    guest = sharing.guest()
    assert guest.ask("gpu.init()") == 0
    assert guest.ask(f"gpu.alloc({2 * GIB})")[0] == 0
    assumed = DeviceSettings().context_of(sharing.daemon().status().devices[0].memory)
    status = sharing.until_status(
        lambda status: any(c.allocated and c.context != assumed for c in status.clients)
    )
    (client,) = status.clients
    # The model's context takes 300 MiB, and a module a chunk at least.
    assert 300 * MIB < client.context < 320 * MIB
    assert (client.allocated, client.pinned) == (2 * GIB, 0)
    assert status.devices[0].allocated == 2 * GIB + client.context
    assert guest.end() == ""


def test_plain_memory_is_counted_once(share: Share) -> None:
    sharing = share("t4")
    guest = sharing.guest(Wishes(allocation="native"))
    assert guest.ask("gpu.init()") == 0
    assert guest.ask(f"gpu.alloc({2 * GIB})")[0] == 0
    status = sharing.until_status(
        lambda status: any(
            c.allocated and 300 * MIB < c.context < 320 * MIB for c in status.clients
        )
    )
    (client,) = status.clients
    assert (client.allocated, client.pinned) == (2 * GIB, 2 * GIB)
    assert status.devices[0].allocated == 2 * GIB + client.context
    assert guest.end() == ""


def test_what_a_pool_keeps_is_taken_from_everybody_until_it_gives_it_back(share: Share) -> None:
    sharing = share("t4")
    guest = sharing.guest()
    assert guest.ask("gpu.init()") == 0
    pool = guest.ask("gpu.hoard(0)")
    code, pointer = guest.ask(f"gpu.alloc_async({2 * GIB})")
    assert code == 0
    sharing.until_status(
        lambda status: any(c.pinned == 2 * GIB and c.context < 320 * MIB for c in status.clients)
    )
    assert guest.ask(f"gpu.free_async({pointer})") == 0
    status = sharing.until_status(
        lambda status: all(c.pinned == 0 and c.context > 2 * GIB for c in status.clients)
    )
    assert 2 * GIB + 300 * MIB < status.devices[0].allocated < 2 * GIB + 320 * MIB
    assert guest.ask(f"gpu.trim({pool})") == 0
    sharing.until_status(lambda status: all(c.context < 320 * MIB for c in status.clients))
    assert guest.end() == ""


def test_what_explicit_memory_is_rounded_up_by_is_counted(share: Share) -> None:
    """It moves in whole pages of 2 MiB. A program reports its requests; NVML shows the rest."""
    sharing = share("t4")
    guest = sharing.guest(Wishes(allocation="explicit"))
    assert guest.ask("gpu.init()") == 0
    sizes = f"[gpu.alloc({2 * MIB + 1})[0] for _ in range(100)]"
    assert guest.ask(sizes) == [0] * 100
    status = sharing.until_status(
        lambda status: any(490 * MIB < c.context < 520 * MIB for c in status.clients)
    )
    (client,) = status.clients
    assert client.allocated == 100 * (2 * MIB + 1)
    assert guest.end() == ""
