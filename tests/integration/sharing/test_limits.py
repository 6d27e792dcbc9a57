"""Memory limits with the real daemon: their groups, when they take effect, and their exactness."""

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.launch.preload import Wishes

from ..building import build_on_driver
from ..interposer.conftest import Guest
from .conftest import Sharing

Share = Callable[..., Sharing]
MIB, GIB = 1 << 20, 1 << 30
OUT_OF_MEMORY = 2


@pytest.fixture
def sharing(share: Share) -> Sharing:
    return share("1xt4", speed=20, data="off")


def ready(guest: Guest) -> Guest:
    assert guest.ask("gpu.init() or gpu.info()[0] > 0") is True
    return guest


def test_a_second_tensor_that_would_pass_the_limit_is_refused_until_it_is_raised(
    sharing: Sharing,
) -> None:
    guest = ready(sharing.guest(Wishes(memory_limit=GIB)))
    assert guest.ask("gpu.info()") == [GIB, GIB]
    assert guest.ask("gpu.alloc(748 << 20)")[0] == 0
    assert guest.ask("gpu.info()") == [276 * MIB, GIB]
    assert guest.ask("gpu.alloc(748 << 20)")[0] == OUT_OF_MEMORY
    assert guest.ask("gpu.info()") == [276 * MIB, GIB]
    sharing.daemon().change_limits(str(guest.process.pid), {"memory_limit": "2Gi"})
    assert guest.ask("gpu.info()") == [1300 * MIB, 2 * GIB]
    assert guest.ask("gpu.nvml()") == [748 * MIB, 2 * GIB]
    assert guest.ask("gpu.alloc(748 << 20)")[0] == 0
    assert guest.ask("gpu.alloc(552 << 20)")[0] == 0
    assert guest.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY
    # Lifted, it sees the whole GPU.
    sharing.daemon().change_limits(str(guest.process.pid), {"memory_limit": None})
    free, total = guest.ask("gpu.info()")
    assert (total - free, total > 14 * GIB) == (2 * GIB, True)


def test_two_processes_of_one_run_share_one_limit(sharing: Sharing) -> None:
    wishes, token = Wishes(memory_limit=GIB), secrets.token_hex(16)
    one = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    two = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    other = ready(sharing.guest(wishes))
    code, pointer = one.ask("gpu.alloc(600 << 20)")
    assert code == 0
    assert two.ask("gpu.info()") == [424 * MIB, GIB]
    assert two.ask("gpu.alloc(500 << 20)")[0] == OUT_OF_MEMORY
    assert other.ask("gpu.alloc(1 << 30)")[0] == 0
    # Free and try again, as PyTorch does.
    assert one.ask(f"gpu.free({pointer})") == 0
    assert two.ask("gpu.alloc(500 << 20)")[0] == 0
    assert one.ask("gpu.info()") == [524 * MIB, GIB]


def test_what_a_pool_of_one_keeps_is_not_there_for_the_others(sharing: Sharing) -> None:
    wishes, token = Wishes(memory_limit=GIB), secrets.token_hex(16)
    one = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    two = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    pool = one.ask("gpu.hoard(0)")
    code, pointer = one.ask("gpu.alloc_async(600 << 20)")
    assert code == 0
    assert one.ask(f"gpu.free_async({pointer}) or gpu.launch(10)") == 0
    while two.ask("gpu.info()") != [424 * MIB, GIB]:
        assert one.ask("gpu.launch(1)") == 0
    assert two.ask("gpu.alloc(500 << 20)")[0] == OUT_OF_MEMORY
    assert one.ask(f"gpu.trim({pool})") == 0
    while two.ask("gpu.alloc(500 << 20)")[0] != 0:
        assert one.ask("gpu.launch(1)") == 0


def test_memory_of_graphs_counts_against_the_limit(sharing: Sharing) -> None:
    guest = ready(sharing.guest(Wishes(memory_limit=GIB)))
    assert guest.ask(f"gpu.capture_memory({600 * MIB})") == [0] * 8
    pid = str(guest.process.pid)
    sharing.until_status(lambda _: sharing.daemon().group(pid).uses[0].used >= 600 * MIB)
    assert guest.ask("gpu.alloc(500 << 20)")[0] == OUT_OF_MEMORY
    assert guest.ask("gpu.alloc(400 << 20)")[0] == 0


def test_modules_count_against_the_limit_soon_after_they_are_loaded(sharing: Sharing) -> None:
    guest = ready(sharing.guest(Wishes(memory_limit=GIB)))
    # NVML has shown the size of its context, which is less than was assumed.
    sharing.until_status(lambda now: any(300 * MIB < c.context < 310 * MIB for c in now.clients))
    pid = str(guest.process.pid)
    assert sharing.daemon().group(pid).uses[0].used == 0
    assert guest.ask("gpu.load_modules(100)") == 0
    sharing.until_status(lambda now: any(one.context > 450 * MIB for one in now.clients))
    used = sharing.daemon().group(pid).uses[0].used
    assert 150 * MIB < used < 250 * MIB
    assert guest.ask("gpu.info()") == [GIB - used, GIB]
    assert guest.ask(f"gpu.alloc({GIB - used + 1})")[0] == OUT_OF_MEMORY
    assert guest.ask(f"gpu.alloc({GIB - used})")[0] == 0


def test_what_a_member_had_is_free_when_it_is_dead(sharing: Sharing) -> None:
    wishes, token = Wishes(memory_limit=GIB), secrets.token_hex(16)
    one = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    two = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    assert one.ask("gpu.alloc(1 << 30)")[0] == 0
    assert two.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY
    sharing.kill(one.process)
    sharing.until_status(lambda status: len(status.clients) == 1)
    assert two.ask("gpu.info()") == [GIB, GIB]
    assert two.ask("gpu.alloc(1 << 30)")[0] == 0


def test_limits_and_sums_outlive_the_daemon(sharing: Sharing) -> None:
    wishes, token = Wishes(memory_limit=GIB), secrets.token_hex(16)
    one = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    two = ready(sharing.guest(wishes, NVSHARE_GROUP=token))
    assert one.ask("gpu.alloc(600 << 20)")[0] == 0
    assert two.ask("gpu.alloc(100 << 20)")[0] == 0
    sharing.daemon().change_limits(str(two.process.pid), {"memory_limit": "800Mi"})
    sharing.kill_daemon()
    # Without a daemon too, they keep to it together.
    assert two.ask("gpu.info()") == [100 * MIB, 800 * MIB]
    assert two.ask("gpu.alloc(101 << 20)")[0] == OUT_OF_MEMORY
    assert two.ask("gpu.alloc(90 << 20)")[0] == 0
    assert one.ask("gpu.info()") == [10 * MIB, 800 * MIB]
    sharing.start_daemon()
    status = sharing.until_status(lambda status: len(status.clients) == 2)
    assert {client.limits.memory_limit for client in status.clients} == {800 * MIB}
    assert one.ask("gpu.info()") == two.ask("gpu.info()") == [10 * MIB, 800 * MIB]
    assert one.ask("gpu.alloc(11 << 20)")[0] == OUT_OF_MEMORY
    sharing.daemon().change_limits(str(two.process.pid), {"memory_limit": "801Mi"})
    assert one.ask("gpu.alloc(11 << 20)")[0] == 0


def test_a_million_allocations_of_a_group_are_exact_to_the_byte(
    share: Share, tmp_path: Path
) -> None:
    """See limit_storm.c: never over the limit, and refused only if there is no room."""
    sharing = share("1xt4", speed=1_000_000, data="off")
    storm = build_on_driver("limit_storm", tmp_path)
    process = sharing.start(
        storm,
        "4",
        "3",
        "2400000",
        str(80 * MIB),
        wishes=Wishes(memory_limit=80 * MIB),
        NVSHARE_EMULATOR_MODEL="off",
    )
    said, errors = process.communicate(timeout=120)
    counts = dict(word.split("=") for word in said.split())
    assert counts.get("failures") == "0", (said, errors)
    # Each of the processes has reported one refusal.
    told = errors.splitlines()
    assert len({line.partition(":")[0] for line in told}) == len(told) == 4, errors
    assert all("refused: this program may use 80.0 MiB" in line for line in told)
    assert int(counts["allocations"]) > 1_000_000
    assert int(counts["refusals"]) > 100_000


def test_a_thousand_changes_under_load_each_hold_at_once(sharing: Sharing) -> None:
    guest = ready(sharing.guest(Wishes(memory_limit=GIB)))
    load = ready(sharing.guest(Wishes(memory_limit=64 * MIB)))
    load.ask("gpu.start('[gpu.free(gpu.alloc(1 << 20)[1]) for _ in iter(int, 1)]')")
    daemon, pid = sharing.daemon(), str(guest.process.pid)
    wrong = 0
    for number in range(1000):
        limit = (1 + number % 7) * 100 * MIB + number
        daemon.change_limits(pid, {"memory_limit": limit})
        wrong += guest.ask("gpu.info()") != [limit, limit]
    assert wrong == 0
    assert guest.ask("gpu.alloc(601 << 20)")[0] == OUT_OF_MEMORY


def test_excess_leaves_the_gpu_while_its_program_does_not_run(share: Share) -> None:
    settings = {"NVSHARE_MODE": "serial", "NVSHARE_TURN": "3600"}
    sharing = share("1xt4", speed=100, data="off", settings=settings)
    sharing.daemon().change_devices("all", {"swap_excess": True})
    one, two = ready(sharing.guest()), ready(sharing.guest())
    for guest in (one, two):
        assert guest.ask("gpu.alloc(512 << 20)[0] or gpu.touch(gpu.last.value)") == 0
    # The second has run last, when the first was idle.
    pid = one.process.pid
    sharing.daemon().change_limits(str(pid), {"memory_limit": "300Mi"})
    status = sharing.until_status(
        lambda status: any(c.pid == pid and c.swapped_out for c in status.clients)
    )
    (group,) = (group for group in status.groups if pid in group.pids)
    assert group.uses[0].over_limit
    assert group.uses[0].swapped_out >= 212 * MIB
    # After a raise nothing more leaves, and memory that has left is there when it is used.
    sharing.daemon().change_limits(str(pid), {"memory_limit": "1Gi"})
    assert one.ask("gpu.touch(gpu.last.value) or gpu.sync()") == 0


def test_excess_leaves_the_gpu_though_its_program_goes_on(share: Share) -> None:
    """There are no turns: everything fits."""
    sharing = share("1xt4", speed=100, data="off")
    sharing.daemon().change_devices("all", {"swap_excess": True})
    guest = ready(sharing.guest())
    pointers = [guest.ask("gpu.alloc(256 << 20)")[1] for _ in range(4)]
    assert guest.ask(f"gpu.touch(*{pointers}) or gpu.sync()") == 0
    pid = guest.process.pid
    guest.ask("gpu.start('[gpu.launch() or gpu.sync() for _ in iter(int, 1)]')")
    sharing.daemon().change_limits(str(pid), {"memory_limit": "600Mi"})
    status = sharing.until_status(
        lambda status: any(c.pid == pid and c.swapped_out == 424 * MIB for c in status.clients)
    )
    (group,) = (group for group in status.groups if pid in group.pids)
    assert group.uses[0].over_limit
    assert group.uses[0].swapped_out == 424 * MIB
    (client,) = status.clients
    assert (client.state, client.turns) == ("running", 1)
    assert sharing.account(pid).resident_bytes == 600 * MIB
    # Memory that it uses again comes back, without thrashing.
    assert guest.ask(f"gpu.touch({pointers[0]}) or gpu.sync()") == 0
    assert sharing.account(pid).resident_bytes == 856 * MIB
    assert sharing.account(pid).out_bytes == 424 * MIB
