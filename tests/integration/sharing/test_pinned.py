"""What cannot leave the GPU is shown with the reason."""

from collections.abc import Callable

from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus

from .conftest import Sharing

MIB = 1 << 20


def pinned(status: NodeStatus) -> dict[str, int]:
    return {
        name: size // MIB for client in status.clients for name, size in client.pinned_by.items()
    }


def test_reasons(share: Callable[..., Sharing]) -> None:
    sharing = share("2xtiny")
    guest = sharing.guest(Wishes(allocation="explicit"))
    assert guest.ask("gpu.init() or gpu.launch()") == 0
    assert guest.ask(f"gpu.alloc_async({8 * MIB})")[0] == 0
    assert guest.ask(f"gpu.array({4 * MIB})") == 0
    pool = guest.ask("gpu.make_exportable_pool()")
    assert guest.ask(f"gpu.export_pool({pool})") == 0
    assert guest.ask(f"gpu.alloc_async({16 * MIB}, {pool})")[0] == 0
    handle = guest.ask(f"gpu.make_handle({2 * MIB})")
    expected = {"arrays": 4, "pools": 16}
    status = sharing.until_status(lambda status: pinned(status) == expected)
    assert status.clients[0].pinned == 20 * MIB
    assert guest.ask(f"gpu.export_handle({handle})") == 0
    expected["exported"] = 2
    sharing.until_status(lambda status: pinned(status) == expected)
    # The next daemon hears of it, too.
    sharing.kill_daemon()
    sharing.start_daemon_again()
    sharing.until_status(lambda status: pinned(status) == expected)
    # With a second GPU everything stays.
    assert guest.ask("gpu.init(1) or gpu.launch()") == 0
    expected["several_gpus"] = 8
    sharing.until_status(lambda status: pinned(status) == expected)


def test_in_the_other_way(share: Callable[..., Sharing]) -> None:
    sharing = share("tiny")
    guest = sharing.guest(Wishes(allocation="managed"))
    assert guest.ask("gpu.init() or gpu.launch()") == 0
    pointer = guest.ask(f"gpu.alloc_async({8 * MIB})")[1]
    guest.ask(f"gpu.make_handle({2 * MIB})")
    sharing.until_status(lambda status: pinned(status) == {"pools": 8, "handles": 2})
    assert guest.ask(f"gpu.free_async({pointer})") == 0
    sharing.until_status(lambda status: pinned(status) == {"handles": 2})
