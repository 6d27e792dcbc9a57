"""The cost of kernels that work through large arrays piece by piece."""

import ctypes
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from tests.integration.driver.physical import access, properties

MIB = 1 << 20
BYTES = 64 * MIB
WHOLE_MS = 3 * BYTES / 243e6
SOON_MS = WHOLE_MS / 10


def milliseconds(cu: Any, launches: list[tuple[str, list[int]]]) -> list[float]:
    """How long each of several queued launches takes."""
    image = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
    module = cu.cuModuleLoadData(image)
    word = ctypes.c_uint64

    def launch(name: str, *values: int) -> None:
        function = cu.cuModuleGetFunction(module, name.encode())
        types = (word,) * len(values)
        cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, (values, types), 0)

    events = [cu.cuEventCreate(0) for _ in range(len(launches) + 1)]
    # Long enough to submit the others behind it.
    launch("nvshare_spin", 300_000)
    cu.cuEventRecord(events[0], 0)
    for event, (name, values) in zip(events[1:], launches, strict=True):
        launch(name, *values)
        cu.cuEventRecord(event, 0)
    cu.cuCtxSynchronize()
    return [cu.cuEventElapsedTime(*pair) for pair in pairwise(events)]


def pieces_are_paid_for_with_the_first(cu: Any) -> None:
    x, y, z, other = (int(cu.cuMemAlloc(BYTES)) for _ in range(4))
    count = 16
    add = "nvshare_add_f32"
    whole = [x, y, z, count]
    times = milliseconds(
        cu,
        [
            (add, whole),
            (add, [x + MIB, y + MIB, z + MIB, count]),
            (add, [x + 2 * MIB, y + 2 * MIB, z + 2 * MIB, count]),
            # From the beginning again.
            (add, whole),
            # Not all of the pointers have moved.
            (add, [x, y + MIB, z + MIB, count]),
            # Another allocation is among them.
            (add, [x + MIB, y + 2 * MIB, other, count]),
            # Another kernel.
            ("nvshare_pattern_u64", [x + 2 * MIB, count, 1]),
        ],
    )
    assert [time < SOON_MS for time in times] == [False, True, True, False, False, False, False]
    assert all(time > 0.99 * WHOLE_MS for time in (times[0], *times[3:6]))


def grow(cu: Any, address: int, size: int) -> None:
    """Map handles at adjacent addresses, as PyTorch does in its expandable segments."""
    piece = 4 * MIB
    for at in range(address, address + size, piece):
        handle = cu.cuMemCreate(piece, properties(cu), 0)
        cu.cuMemMap(at, piece, 0, handle, 0)
    cu.cuMemSetAccess(address, size, [access(cu)], 1)


def only_arrays_that_are_meant_are_paid_for(cu: Any) -> None:
    """Up to four arrays lie side by side in a reservation, and a kernel uses some of them."""
    size = BYTES + MIB  # so that they begin and end within pieces
    x, y, z, other = range(int(cu.cuMemAddressReserve(6 * BYTES, 0, 0, 0)), 1 << 63, size)[:4]
    add, count = "nvshare_add_f32", 16
    grow(cu, x, 3 * BYTES + 4 * MIB)
    whole, *alone = milliseconds(
        cu,
        [
            (add, [x, y, z, count]),
            ("nvshare_pattern_u64", [x, count, 1]),
            ("nvshare_pattern_u64", [z, count, 1]),
        ],
    )
    assert whole == pytest.approx(WHOLE_MS, rel=0.05)
    assert alone == pytest.approx([WHOLE_MS / 3] * 2, rel=0.05)
    grow(cu, x + 3 * BYTES + 4 * MIB, BYTES)
    to_others = [(add, [x, y, other, count]), (add, [x, y, z, count])]
    halves = [(add, [place + BYTES // 2 for place in (x, y, z)] + [count])]
    times = milliseconds(cu, [*to_others, *to_others, *halves, *to_others, *halves])
    assert times[:4] == pytest.approx([WHOLE_MS] * 4, rel=0.05)
    # The second half was paid for with the first; from then on each is paid for by itself.
    assert times[4] < SOON_MS
    assert times[6:] == pytest.approx([WHOLE_MS / 2] * 2, rel=0.05)


def test_arrays_in_one_reservation(emulated: Any) -> None:
    emulated(only_arrays_that_are_meant_are_paid_for, gpus="t4", speed=1)


def an_array_in_pieces_is_paid_for_as_a_whole(cu: Any) -> None:
    """Like an allocation, also if a kernel gets only a part of it."""
    x, y, z = (int(cu.cuMemAddressReserve(BYTES, 0, 0, 0)) for _ in range(3))
    for place in (x, y, z):
        grow(cu, place, BYTES)
    add, whole = "nvshare_add_f32", [x, y, z, 16]
    pieces = (add, [x + MIB, y + MIB, z + MIB, 16])
    times = milliseconds(cu, [(add, whole), pieces, (add, whole)])
    assert times == pytest.approx([WHOLE_MS, 0, WHOLE_MS], rel=0.01, abs=SOON_MS)


def test_an_array_in_pieces(emulated: Any) -> None:
    emulated(an_array_in_pieces_is_paid_for_as_a_whole, gpus="t4", speed=1)


def test_pieces(emulated: Any) -> None:
    emulated(pieces_are_paid_for_with_the_first, gpus="t4", speed=1)
