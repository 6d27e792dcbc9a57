"""Memory of pools: memory that they keep for later is not free, and is given back when needed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.wire.frames import Memory, Released

from .conftest import Guest, StartGuest
from .scripted import Scripted
from .swapper import Swapper

MIB = 1 << 20
OUT_OF_MEMORY = 2


def free(guest: Guest) -> int:
    return int(guest.ask("gpu.info()")[0])


def hold(guest: Guest, mib: int, pool: int = 0) -> int:
    code, pointer = guest.ask(f"gpu.alloc_async({mib * MIB}, {pool})")
    assert code == 0
    return int(pointer)


@pytest.fixture(params=["managed", "explicit"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lone(start_guest: StartGuest, way: str) -> Guest:
    """A program without a daemon."""
    guest = start_guest(NVSHARE_SOCKET_DIR="/nonexistent", NVSHARE_ALLOCATION=way)
    assert guest.ask("gpu.init()") == 0
    return guest


def test_what_the_default_pool_keeps(lone: Guest) -> None:
    before = free(lone)
    pool = lone.ask("gpu.hoard(0)")
    assert free(lone) == before
    first, second = hold(lone, 64), hold(lone, 32)
    assert free(lone) == before - 96 * MIB
    assert lone.ask(f"gpu.free_async({first})") == 0
    # It is no longer allocated, but the pool keeps it.
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
    # A pool that cannot be destroyed stays.
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


def test_under_a_limit_it_is_not_free_but_can_be_allocated(
    start_guest: StartGuest, way: str
) -> None:
    """A limit is for allocated memory: a pool that has kept too much can reuse it."""
    guest = start_guest(
        NVSHARE_SOCKET_DIR="/nonexistent",
        NVSHARE_ALLOCATION=way,
        NVSHARE_GPU_MEMORY_LIMIT=str(100 * MIB),
    )
    assert guest.ask("gpu.init()") == 0
    guest.ask("gpu.hoard(0)")
    first, second = hold(guest, 60), hold(guest, 40)
    assert guest.ask(f"gpu.free_async({first})") == 0
    assert guest.ask(f"gpu.free_async({second})") == 0
    assert guest.ask("gpu.info()") == [0, 100 * MIB]
    assert hold(guest, 60)
    assert guest.ask(f"gpu.alloc({41 * MIB})")[0] == OUT_OF_MEMORY
    assert guest.ask(f"gpu.alloc({40 * MIB})")[0] == 0


def test_what_a_pool_keeps_counts_against_a_limit(start_guest: StartGuest) -> None:
    """The driver's own pools give back kept memory before it would exceed the limit."""
    guest = start_guest(
        NVSHARE_SOCKET_DIR="/nonexistent",
        NVSHARE_ALLOCATION="native",
        NVSHARE_GPU_MEMORY_LIMIT=str(100 * MIB),
    )
    assert guest.ask("gpu.init()") == 0
    pool = guest.ask("gpu.hoard(0)")
    assert guest.ask(f"gpu.free_async({hold(guest, 60)})") == 0
    assert guest.ask(f"gpu.pool_figures({pool})[0]") == 60 * MIB
    assert guest.ask(f"gpu.alloc({40 * MIB})")[0] == 0
    assert guest.ask(f"gpu.pool_figures({pool})[0]") == 60 * MIB
    # One byte more, and it would be 100 MiB and the pool's 60: the pool gives them back.
    assert guest.ask(f"gpu.alloc({60 * MIB})")[0] == 0
    assert guest.ask(f"gpu.pool_figures({pool})[0]") == 0
    assert guest.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY


# Attributes of a pool, of a pointer.
MEMPOOL_HANDLE = 17
# This many slow kernels take longer than a few calls.
MANY = 20


@pytest.fixture(params=["native", "managed", "explicit"])
def any_lone(start_guest: StartGuest, request: pytest.FixtureRequest) -> Guest:
    guest = start_guest(NVSHARE_SOCKET_DIR="/nonexistent", NVSHARE_ALLOCATION=str(request.param))
    assert guest.ask("gpu.init()") == 0
    return guest


@pytest.fixture
def explicit(start_guest: StartGuest) -> Guest:
    guest = start_guest(NVSHARE_SOCKET_DIR="/nonexistent", NVSHARE_ALLOCATION="explicit")
    assert guest.ask("gpu.init()") == 0
    return guest


@pytest.fixture
def taken(environment: dict[str, str]) -> Callable[[], int]:
    """The used memory of the first GPU, without contexts, in MiB."""
    folder = Path(environment["NVSHARE_EMULATOR_NODE"])
    return lambda: read_report(folder).gpus[0].plain_bytes // MIB


def test_a_pool_tells_the_same_in_every_way(any_lone: Guest) -> None:
    pool = any_lone.ask("gpu.make_pool()")
    first, second = hold(any_lone, 64, pool), hold(any_lone, 32, pool)
    assert any_lone.ask(f"gpu.pool_figures({pool})") == [96 * MIB] * 4
    assert any_lone.ask(f"gpu.attribute({MEMPOOL_HANDLE}, {first + MIB})") == [0, pool]
    assert any_lone.ask(f"gpu.range({second + MIB})") == [0, second, 32 * MIB]
    assert any_lone.ask(f"gpu.free_async({first})") == 0
    assert any_lone.ask(f"gpu.pool_figures({pool})") == [96 * MIB, 96 * MIB, 32 * MIB, 96 * MIB]
    assert any_lone.ask(f"gpu.trim({pool})") == 0
    assert any_lone.ask(f"gpu.reset_high_marks({pool})") == 0
    assert any_lone.ask(f"gpu.pool_figures({pool})") == [32 * MIB] * 4
    assert any_lone.ask(f"gpu.free({second})") == 0
    assert any_lone.ask(f"gpu.pool_figures({pool})")[2] == 0
    assert any_lone.ask(f"gpu.free_async({second})") != 0


def test_a_pool_that_may_not_grow(any_lone: Guest) -> None:
    pool = any_lone.ask(f"gpu.make_pool(0, {100 * MIB})")
    first = hold(any_lone, 64, pool)
    assert any_lone.ask(f"gpu.alloc_async({64 * MIB}, {pool})")[0] == OUT_OF_MEMORY
    # Frees that are pending in a stream are waited for.
    assert any_lone.ask(f"gpu.launch({MANY}, slow=True) or gpu.free_in({first})") == 0
    assert hold(any_lone, 90, pool)


def test_what_a_stream_frees_others_get_when_it_is_done(explicit: Guest) -> None:
    pool = explicit.ask("gpu.make_pool()")
    explicit.ask("[gpu.stream() and 0, gpu.stream() and 0]")
    here = int(explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[0])")[1])
    assert explicit.ask(f"gpu.launch({MANY}, slow=True, stream=gpu.streams[0])") == 0
    assert explicit.ask(f"gpu.free_in({here}, gpu.streams[0])") == 0
    code, other = explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[1])")
    assert code == 0
    assert other != here
    assert explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[0])") == [0, here]
    assert explicit.ask(f"gpu.free_in({here}, gpu.streams[0])") == 0
    assert explicit.ask("gpu.sync()") == 0
    assert explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[1])") == [0, here]


def test_a_new_stream_is_not_the_one_before(explicit: Guest) -> None:
    """Though it may have its handle."""
    pool = explicit.ask("gpu.make_pool()")
    explicit.ask("gpu.stream() and 0")
    first = int(explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[0])")[1])
    assert explicit.ask(f"gpu.launch({MANY}, slow=True, stream=gpu.streams[0])") == 0
    assert explicit.ask(f"gpu.free_in({first}, gpu.streams[0])") == 0
    assert explicit.ask("gpu.cuda.cuStreamDestroy_v2(gpu.streams[0])") == 0
    explicit.ask("gpu.stream() and 0")
    assert explicit.ask(f"gpu.alloc_async({8 * MIB}, {pool}, gpu.streams[1])")[1] != first


def test_beyond_its_threshold_a_pool_gives_back_when_the_program_waits(
    explicit: Guest, taken: Callable[[], int]
) -> None:
    before = taken()
    pointer = hold(explicit, 64)
    assert explicit.ask(f"gpu.free_in({pointer})") == 0
    assert taken() == before + 64
    assert hold(explicit, 64) == pointer
    assert explicit.ask(f"gpu.free_in({pointer})") == 0
    assert explicit.ask("gpu.cuda.cuStreamSynchronize(None)") == 0
    assert taken() == before


def test_plain_memory_can_be_freed_in_the_order_of_a_stream(any_lone: Guest) -> None:
    before = free(any_lone)
    _, pointer = any_lone.ask(f"gpu.alloc({64 * MIB})")
    assert any_lone.ask(f"gpu.touch({pointer}) or gpu.free_async({pointer})") == 0
    assert free(any_lone) == before
    assert any_lone.ask(f"gpu.free_async({pointer})") != 0


def test_other_memory_is_freed_in_the_order_of_a_stream_too(
    explicit: Guest, taken: Callable[[], int]
) -> None:
    before = taken()
    _, pointer = explicit.ask(f"gpu.alloc({64 * MIB})")
    assert explicit.ask(f"gpu.launch({MANY}, slow=True) or gpu.touch({pointer})") == 0
    assert explicit.ask(f"gpu.free_in({pointer})") == 0
    assert taken() == before + 64
    assert explicit.ask("gpu.sync()") == 0
    assert taken() == before


def test_what_pools_keep_does_not_stand_in_the_way(explicit: Guest) -> None:
    """On a GPU of 256 MiB. Frees that are pending in a stream are waited for."""
    explicit.ask("gpu.hoard(0)")
    first = hold(explicit, 140)
    assert explicit.ask(f"gpu.free_async({first})") == 0
    second = hold(explicit, 160)
    assert explicit.ask(f"gpu.launch({MANY}, slow=True) or gpu.touch({second})") == 0
    assert explicit.ask(f"gpu.free_in({second})") == 0
    assert explicit.ask(f"gpu.alloc({140 * MIB})")[0] == 0
    # It was not taken away while the work before the free used it.
    assert explicit.ask("gpu.sync()") == 0


def test_what_pools_keep_counts_against_a_limit_and_nothing_is_refused_for_it(
    start_guest: StartGuest,
) -> None:
    guest = start_guest(
        NVSHARE_SOCKET_DIR="/nonexistent",
        NVSHARE_ALLOCATION="explicit",
        NVSHARE_GPU_MEMORY_LIMIT="100Mi",
    )
    assert guest.ask("gpu.init()") == 0
    guest.ask("gpu.hoard(0)")
    assert guest.ask(f"gpu.free_async({hold(guest, 64)})") == 0
    assert free(guest) == 36 * MIB
    # Of another size, for which the kept memory is of no use.
    assert hold(guest, 90)
    assert free(guest) == 10 * MIB
    assert guest.ask(f"gpu.alloc_async({11 * MIB}, 0)")[0] == OUT_OF_MEMORY


def test_a_pool_that_is_destroyed_lives_on_in_its_memory(
    explicit: Guest, taken: Callable[[], int]
) -> None:
    before = taken()
    pool = explicit.ask("gpu.make_pool()")
    pointer = hold(explicit, 32, pool)
    assert explicit.ask(f"gpu.cuda.cuMemPoolDestroy(gpu.word({pool}))") == 0
    assert explicit.ask(f"gpu.touch({pointer}) or gpu.sync()") == 0
    explicit.ask("gpu.make_pool()")  # perhaps with the same handle
    assert explicit.ask(f"gpu.free_async({pointer})") == 0
    assert taken() == before


def test_a_context_goes_that_something_was_freed_in(
    explicit: Guest, taken: Callable[[], int]
) -> None:
    before = taken()
    pool = explicit.ask("gpu.make_pool()")
    pointer = hold(explicit, 32, pool)
    assert explicit.ask("gpu.create()") == 0
    assert explicit.ask(f"gpu.free_in({pointer})") == 0
    assert explicit.ask("gpu.destroy()") == 0
    assert explicit.ask("gpu.cuda.cuCtxSetCurrent(gpu.context)") == 0
    assert hold(explicit, 32, pool) == pointer
    assert explicit.ask(f"gpu.free_async({pointer}) or gpu.trim({pool})") == 0
    assert taken() == before


@pytest.fixture
def turning(
    scripted: Scripted, start_guest: StartGuest, environment: dict[str, str], way: str
) -> Swapper:
    """A guest that holds turn 1."""
    return Swapper(scripted, start_guest(NVSHARE_ALLOCATION=way), environment)


def test_what_pools_keep_is_given_back_at_the_end_of_a_turn(turning: Swapper, way: str) -> None:
    before = turning.truth().plain_bytes
    turning.guest.ask("gpu.hoard(0)")
    kept = hold(turning.guest, 64)
    hold(turning.guest, 32)
    assert turning.guest.ask(f"gpu.free_async({kept})") == 0
    assert turning.truth().plain_bytes == before + 96 * MIB
    turning.revoke(0)
    assert turning.told(Released).pinned == (0 if way == "explicit" else 32 * MIB)
    turning.until(lambda account: account.plain_bytes == before + 32 * MIB)
    # The remaining memory is still the program's, and so is the pool.
    turning.grant()
    kept = hold(turning.guest, 64)
    assert turning.guest.ask(f"gpu.free_async({kept})") == 0
    # The next turn may end soon, but now another program needs room.
    turning.touch(turning.allocate(32))
    # Memory that nvshare's own pools give back has left, and counts as such.
    turning.revoke((96 if way == "explicit" else 32) * MIB)
    turning.told(Released)
    assert turning.moved().out_bytes == 32 * MIB
    turning.until(lambda account: account.plain_bytes == before + 32 * MIB)


@pytest.mark.parametrize("way", ["explicit"])
def test_the_daemon_is_told_of_what_pools_keep(turning: Swapper) -> None:
    turning.guest.ask("gpu.hoard(0)")
    kept = hold(turning.guest, 64)
    assert turning.guest.ask(f"gpu.free_async({kept})") == 0
    turning.allocate(32)
    while turning.link.next(Memory).allocated != 96 * MIB:
        continue


@pytest.mark.parametrize("way", ["explicit"])
def test_memory_of_pools_moves(turning: Swapper) -> None:
    before = turning.truth().plain_bytes
    pointer = hold(turning.guest, 64)
    assert turning.guest.ask(f"gpu.upload({pointer}, {64 * MIB})") == 0
    turning.swap_out(64)
    turning.until(lambda account: account.plain_bytes == before)
    assert turning.guest.ask(f"gpu.range({pointer})") == [0, pointer, 64 * MIB]
    turning.grant()
    assert turning.moved().in_bytes == 64 * MIB
    assert turning.guest.ask(f"gpu.download({pointer}, {64 * MIB})") == 0
    assert turning.guest.ask(f"gpu.free_async({pointer})") == 0
    turning.until(lambda account: account.plain_bytes == before)


@pytest.mark.parametrize("way", ["explicit"])
def test_what_is_freed_while_it_is_away_can_be_had_again(turning: Swapper) -> None:
    turning.guest.ask("gpu.hoard(0)")
    pointer = hold(turning.guest, 64)
    assert turning.guest.ask(f"gpu.upload({pointer}, {64 * MIB})") == 0
    turning.swap_out(64)
    assert turning.guest.ask(f"gpu.free_in({pointer})") == 0
    turning.grant()
    assert turning.guest.ask("gpu.launch()") == 0
    assert hold(turning.guest, 64) == pointer
    assert turning.guest.ask(f"gpu.touch({pointer}) or gpu.sync()") == 0


@pytest.mark.parametrize("way", ["explicit"])
def test_a_pool_that_is_exported_is_the_drivers(turning: Swapper) -> None:
    """To be exportable is not enough."""
    pool = turning.guest.ask("gpu.make_exportable_pool()")
    hold(turning.guest, 32, pool)
    assert turning.guest.ask(f"gpu.export_pool({pool})") == 0
    hold(turning.guest, 16, pool)
    turning.revoke(0)
    released = turning.told(Released)
    assert (released.allocated, released.pinned) == (48 * MIB, 16 * MIB)


def test_memory_of_graphs_is_the_drivers(explicit: Guest, taken: Callable[[], int]) -> None:
    """It exists as long as the graph, and is not counted."""
    pool = explicit.ask("gpu.make_pool()")
    before = taken()
    pointer = hold(explicit, 8, pool)
    assert explicit.ask(f"gpu.capture_memory({2 * MIB})") == [0] * 8
    assert explicit.ask(f"gpu.free_async({pointer}) or gpu.trim({pool})") == 0
    assert taken() == before + 2


def test_a_capture_is_not_spoilt_by_memory_of_another_stream(
    explicit: Guest, taken: Callable[[], int]
) -> None:
    before = taken()
    explicit.ask("[gpu.stream() and 0, gpu.stream() and 0]")
    pointer = hold(explicit, 8)
    assert explicit.ask("gpu.cuda.cuStreamBeginCapture_v2(gpu.streams[0], 0)") == 0
    assert explicit.ask(f"gpu.free_in({pointer}, gpu.streams[1])") == 0
    assert explicit.ask("gpu.cuda.cuStreamSynchronize(gpu.streams[1])") == 0
    assert taken() == before
    other = explicit.ask(f"gpu.alloc_async({8 * MIB}, 0, gpu.streams[1])")
    assert other[0] == 0
    assert explicit.ask("gpu.launch(1, stream=gpu.streams[0])") == 0
    graph = "gpu.host(8)"  # somewhere to write its handle to
    assert explicit.ask(f"gpu.cuda.cuStreamEndCapture(gpu.streams[0], {graph})") == 0
