"""Memory: counted, limited, and shown to the program as its own."""

from pathlib import Path

import pytest

from nvshare.wire.frames import (
    Grant,
    HelloFlags,
    LimitFlags,
    Limits,
    Memory,
    SettingFlags,
    Settings,
)

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted

pytestmark = pytest.mark.timed

OUT_OF_MEMORY = 2
INVALID_VALUE = 1
MEMORY_TYPE, HOST_POINTER, IS_MANAGED, DEVICE_ORDINAL = 2, 4, 8, 9
DEVICE = 2
MIB = 1 << 20


@pytest.fixture
def link(scripted: Scripted, guest: Guest) -> Link:
    guest.put("gpu.init() or gpu.alloc(1)[0]")
    link = scripted.accept()
    assert link.welcome().flags & HelloFlags.RESUMING == 0
    assert guest.answer() == 0
    return link


def last_report(link: Link) -> Memory:
    """The client's last report, of several on the way."""
    memory: Memory = link.next(Memory)
    while not link.silent(0.1):
        memory = link.next(Memory)
    return memory


def test_the_program_sees_its_own_use_only(link: Link, guest: Guest) -> None:
    free, total = guest.ask("gpu.info()")
    assert total == guest.ask("gpu.total()")
    assert free == total - 1
    guest.ask("gpu.alloc(10 << 20)")
    assert guest.ask("gpu.info()") == [total - 1 - 10 * MIB, total]
    assert guest.ask("gpu.nvml()")[0] == 10 * MIB + 1
    assert last_report(link).allocated == 10 * MIB + 1


def limits(memory_limit: int) -> Limits:
    return Limits(
        memory_limit, LimitFlags(0), share_ppm=0, window_us=0, own_ppm=1_000_000, clock=1000
    )


def test_a_limit_is_the_size_of_the_gpu(link: Link, guest: Guest) -> None:
    link.send(limits(32 * MIB))
    link.until_taken_in()
    assert guest.ask("gpu.info()") == [32 * MIB - 1, 32 * MIB]
    assert guest.ask("gpu.total()") == 32 * MIB
    assert guest.ask("gpu.nvml()") == [1, 32 * MIB]
    code, pointer = guest.ask("gpu.alloc((32 << 20) - 1)")
    assert code == 0
    assert guest.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY
    assert guest.ask("gpu.info()")[0] == 0
    assert guest.ask(f"gpu.free({pointer})") == 0
    assert guest.ask("gpu.alloc(1000)")[0] == 0


def test_a_limit_below_what_is_in_use(link: Link, guest: Guest) -> None:
    code, pointer = guest.ask("gpu.alloc(20 << 20)")
    assert code == 0
    link.send(limits(10 * MIB))
    link.until_taken_in()
    assert guest.ask("gpu.info()") == [0, 10 * MIB]
    assert guest.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY
    assert guest.ask(f"gpu.free({pointer})") == 0
    assert guest.ask("gpu.alloc(1000)")[0] == 0
    link.send(limits(0))
    link.until_taken_in()
    assert guest.ask("gpu.alloc(20 << 20)")[0] == 0


def test_a_limit_from_the_environment(start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_GPU_MEMORY_LIMIT="8Mi")
    assert guest.ask("gpu.cuda.cuInit(0) or gpu.total()") == 8 * MIB
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(8 << 20)")[0] == 0
    assert guest.ask("gpu.alloc(1)")[0] == OUT_OF_MEMORY


@pytest.mark.parametrize(("oversubscribe", "code"), [("0", OUT_OF_MEMORY), ("1", 0)])
def test_more_than_the_gpu_has(start_guest: StartGuest, oversubscribe: str, code: int) -> None:
    guest = start_guest(NVSHARE_OVERSUBSCRIBE=oversubscribe)
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(gpu.total() + 1)")[0] == code
    assert guest.ask("gpu.alloc(gpu.total() + 1)")[0] == code
    # Once, with advice.
    assert guest.end().count("NVSHARE_OVERSUBSCRIBE=1") == (1 if code else 0)


def test_the_daemon_can_allow_more_than_the_gpu_has(link: Link, guest: Guest) -> None:
    link.send(Settings(50_000, 10_000, SettingFlags.OVERSUBSCRIBE, usage_ms=0))
    link.until_taken_in()
    assert guest.ask("gpu.alloc(gpu.total() + 1)")[0] == 0


def test_a_refusal_for_a_limit_speaks_of_the_limit(start_guest: StartGuest, tmp_path: Path) -> None:
    log = tmp_path / "log"
    guest = start_guest(
        NVSHARE_GPU_MEMORY_LIMIT="8Mi", NVSHARE_LOG="info", NVSHARE_LOG_FILE=str(log)
    )
    assert guest.ask("gpu.init()") == 0
    assert guest.ask("gpu.alloc(9 << 20)")[0] == OUT_OF_MEMORY
    assert "OVERSUBSCRIBE" not in guest.end()
    assert "memory limit" in log.read_text()


@pytest.mark.usefixtures("link")
def test_converted_memory_looks_like_device_memory(guest: Guest) -> None:
    _, pointer = guest.ask("gpu.alloc(1 << 20)")
    inside = pointer + 1000
    assert guest.ask(f"gpu.attribute({IS_MANAGED}, {inside})") == [0, 0]
    assert guest.ask(f"gpu.attribute({MEMORY_TYPE}, {inside})") == [0, DEVICE]
    assert guest.ask(f"gpu.attribute({DEVICE_ORDINAL}, {inside})") == [0, 0]
    assert guest.ask(f"gpu.attribute({HOST_POINTER}, {inside})")[0] == INVALID_VALUE


def test_rows_are_as_the_driver_makes_them(
    link: Link, guest: Guest, start_guest: StartGuest
) -> None:
    bare = start_guest(LD_PRELOAD="")
    bare.ask("gpu.init()")
    for width, height in ((1, 1), (512, 3), (513, 7), (100_000, 2)):
        code, _, pitch = guest.ask(f"gpu.alloc_pitch({width}, {height})")
        assert (code, pitch) == tuple(bare.ask(f"gpu.alloc_pitch({width}, {height})")[::2])
    assert guest.ask("gpu.alloc_pitch(0, 1)")[0] == INVALID_VALUE
    assert last_report(link).allocated == 1 + 512 + 512 * 3 + 1024 * 7 + 100_352 * 2


def test_native_memory_is_pinned(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_ALLOCATION="native")
    guest.ask("gpu.init()")
    guest.put("gpu.alloc(1 << 20)")
    link = scripted.accept()
    hello = link.welcome()
    _, pointer = guest.answer()
    memory = hello if hello.allocated else last_report(link)
    assert (memory.allocated, memory.pinned) == (MIB, MIB)
    assert guest.ask(f"gpu.attribute({IS_MANAGED}, {pointer})") == [0, 0]


def test_ipc_of_converted_memory_is_explained(start_guest: StartGuest) -> None:
    guest = start_guest()
    guest.ask("gpu.init()")
    _, pointer = guest.ask("gpu.alloc(1 << 20)")
    handle = "__import__('ctypes').create_string_buffer(64)"
    pointer_text = f"__import__('ctypes').c_uint64({pointer})"
    assert guest.ask(f"gpu.cuda.cuIpcGetMemHandle({handle}, {pointer_text})") != 0
    assert "NVSHARE_ALLOCATION=native" in guest.end()


@pytest.mark.usefixtures("link")
def test_a_context_takes_its_memory_along(guest: Guest) -> None:
    assert guest.ask("gpu.create()") == 0
    assert guest.ask("gpu.alloc(3 << 20)")[0] == 0
    free, total = guest.ask("gpu.info()")
    assert total - free == 3 * MIB + 1
    assert guest.ask("gpu.destroy()") == 0
    assert guest.ask("gpu.use(gpu.context)") == 0
    assert guest.ask("gpu.info()") == [total - 1, total]
    assert guest.ask("gpu.cuda.cuDevicePrimaryCtxReset_v2(0) or gpu.init()") == 0
    assert guest.ask("gpu.info()") == [total, total]


def test_changes_are_told_once_in_a_while(link: Link, guest: Guest) -> None:
    """A thousand allocations are not a thousand frames."""
    guest.ask("[gpu.alloc(1000) for _ in range(1000)] and None")
    frames = 1
    memory = link.next(Memory)
    while not link.silent(0.1):
        memory = link.next(Memory)
        frames += 1
    assert memory.allocated == 1_000_001
    assert frames < 200


def test_memory_that_was_freed_stays_free(link: Link, guest: Guest) -> None:
    _, pointer = guest.ask("gpu.alloc(1 << 20)")
    assert guest.ask(f"gpu.free({pointer})") == 0
    assert guest.ask(f"gpu.free({pointer})") == INVALID_VALUE
    assert guest.ask("gpu.free(12345)") == INVALID_VALUE
    free, total = guest.ask("gpu.info()")
    assert total - free == 1
    link.send(Grant(turn=1, fill_bytes=0))
