"""What memory pools keep for later is not free, and programs that look see that."""

import pytest

from .conftest import Guest, StartGuest

pytestmark = pytest.mark.alone

MIB = 1 << 20
OUT_OF_MEMORY = 2


def free(guest: Guest) -> int:
    return int(guest.ask("gpu.info()")[0])


def hold(guest: Guest, mib: int, pool: int = 0) -> int:
    code, pointer = guest.ask(f"gpu.alloc_async({mib * MIB}, {pool})")
    assert code == 0
    return int(pointer)


@pytest.fixture
def lone(start_guest: StartGuest) -> Guest:
    """A program without a daemon."""
    guest = start_guest(NVSHARE_SOCKET_DIR="/nonexistent")
    assert guest.ask("gpu.init()") == 0
    return guest


def test_what_the_default_pool_keeps(lone: Guest) -> None:
    before = free(lone)
    pool = lone.ask("gpu.hoard(0)")
    assert free(lone) == before
    first, second = hold(lone, 64), hold(lone, 32)
    assert free(lone) == before - 96 * MIB
    assert lone.ask(f"gpu.free_async({first})") == 0
    # It is not allocated any more, and the pool has it.
    assert free(lone) == before - 96 * MIB
    assert lone.ask("gpu.nvml()")[0] >= 96 * MIB
    assert hold(lone, 64)
    assert free(lone) == before - 96 * MIB
    assert lone.ask(f"gpu.free_async({second})") == 0
    assert lone.ask(f"gpu.trim({pool})") == 0
    assert free(lone) == before - 64 * MIB


def test_a_pool_that_keeps_nothing(lone: Guest) -> None:
    before = free(lone)
    assert lone.ask(f"gpu.free_async({hold(lone, 64)})") == 0
    assert free(lone) == before


def test_pools_of_the_program_until_they_are_destroyed(lone: Guest) -> None:
    before = free(lone)
    pools = [lone.ask("gpu.make_pool()") for _ in range(6)]
    for pool in pools:
        assert lone.ask(f"gpu.free_async({hold(lone, 32, pool)})") == 0
    assert free(lone) == before - 6 * 32 * MIB
    assert lone.ask(f"gpu.trim({pools[1]}, {2 * MIB})") == 0
    assert free(lone) == before - 5 * 32 * MIB
    for count, pool in enumerate(pools, 1):
        assert lone.ask(f"gpu.cuda.cuMemPoolDestroy(gpu.word({pool}))") == 0
        assert free(lone) >= before - (6 - count) * 32 * MIB
    assert free(lone) == before
    # One that cannot be destroyed stays.
    default = lone.ask("gpu.hoard(0)")
    assert lone.ask(f"gpu.free_async({hold(lone, 32)})") == 0
    assert lone.ask(f"gpu.cuda.cuMemPoolDestroy(gpu.word({default}))") != 0
    assert free(lone) == before - 32 * MIB


def test_a_pool_that_is_the_current_one_of_the_device(lone: Guest) -> None:
    before = free(lone)
    pool = lone.ask("gpu.make_pool()")
    assert lone.ask(f"gpu.cuda.cuDeviceSetMemPool(0, gpu.word({pool}))") == 0
    assert lone.ask(f"gpu.free_async({hold(lone, 48)})") == 0
    assert free(lone) == before - 48 * MIB


def test_under_a_limit_it_is_not_free_but_can_be_allocated(start_guest: StartGuest) -> None:
    """A limit is for what is allocated: a pool that has kept too much gives it out again."""
    guest = start_guest(NVSHARE_SOCKET_DIR="/nonexistent", NVSHARE_GPU_MEMORY_LIMIT=str(100 * MIB))
    assert guest.ask("gpu.init()") == 0
    guest.ask("gpu.hoard(0)")
    first, second = hold(guest, 60), hold(guest, 40)
    assert guest.ask(f"gpu.free_async({first})") == 0
    assert guest.ask(f"gpu.free_async({second})") == 0
    assert guest.ask("gpu.info()") == [0, 100 * MIB]
    assert hold(guest, 60)
    assert guest.ask(f"gpu.alloc({41 * MIB})")[0] == OUT_OF_MEMORY
    assert guest.ask(f"gpu.alloc({40 * MIB})")[0] == 0
