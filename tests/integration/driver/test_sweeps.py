"""What kernels cost that work through large arrays piece by piece."""

import ctypes
from importlib.resources import files
from itertools import pairwise
from typing import Any

MIB = 1 << 20
BYTES = 64 * MIB
WHOLE_MS = 3 * BYTES / 243e6
SOON_MS = WHOLE_MS / 10


def milliseconds(cu: Any, launches: list[tuple[str, list[int]]]) -> list[float]:
    """How long each of several launches takes that are in the queue together."""
    image = (files("nvshare") / "emulator" / "kernels.ptx").read_bytes()
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


def test_pieces(emulated: Any) -> None:
    emulated(pieces_are_paid_for_with_the_first, gpus="t4", speed=1)
