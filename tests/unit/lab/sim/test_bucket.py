"""The simulator's bucket does what the interposer's does, to the nanosecond."""

import ctypes
import subprocess
from pathlib import Path
from random import Random

import pytest

from nvshare.lab.sim.bucket import MILLION, Bucket, Rate

SOURCE = Path(__file__).parents[4] / "native" / "interposer" / "shares" / "bucket.c"
MILLISECOND = 1_000_000


class CBucket(ctypes.Structure):
    _fields_ = [("paid_until", ctypes.POINTER(ctypes.c_uint64))]


class CRate(ctypes.Structure):
    _fields_ = [("share_ppm", ctypes.c_uint32), ("window_ns", ctypes.c_uint64)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("bucket") / "bucket.so"
    command = ["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True, timeout=60)
    library = ctypes.CDLL(str(path))
    library.bucket_left.restype = ctypes.c_int64
    library.bucket_next.restype = ctypes.c_uint64
    return library


def c_rate(rate: Rate | None) -> CRate:
    return CRate(rate.share, rate.window) if rate else CRate()


@pytest.mark.parametrize("seed", range(20))
def test_any_history_is_the_same(library: ctypes.CDLL, seed: int) -> None:
    random = Random(seed)
    bucket, twin = Bucket(), ctypes.c_uint64(0)
    place = ctypes.byref(CBucket(ctypes.pointer(twin)))
    now, rate = random.randrange(10**15), Rate(MILLION // 3, 100 * MILLISECOND)
    for _ in range(300):
        now += random.randrange(1, 200 * MILLISECOND)
        if (step := random.random()) < 0.7:
            used = random.randrange(1, 50 * MILLISECOND)
            bucket.bill(rate, used, now)
            library.bucket_bill(place, ctypes.byref(c_rate(rate)), ctypes.c_uint64(used), u64(now))
        elif step < 0.85:
            after = Rate(random.randrange(1, MILLION), random.randrange(1, 10**10))
            bucket.change(rate, after, now)
            before, rate = rate, after
            library.bucket_change(
                place, ctypes.byref(c_rate(before)), ctypes.byref(c_rate(after)), u64(now)
            )
        else:
            bucket.forgive(now)
            library.bucket_forgive(place, u64(now))
        assert bucket.paid_until == twin.value
        assert bucket.left(rate, now) == library.bucket_left(
            place, ctypes.byref(c_rate(rate)), u64(now)
        )
        assert bucket.next(rate) == library.bucket_next(place, ctypes.byref(c_rate(rate)))


def u64(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def test_a_first_share_begins_with_what_a_cycle_begins_with(library: ctypes.CDLL) -> None:
    now, rate = 10**12, Rate(MILLION // 4, 100 * MILLISECOND)
    bucket, twin = Bucket(), ctypes.c_uint64(0)
    bucket.change(None, rate, now)
    library.bucket_change(
        ctypes.byref(CBucket(ctypes.pointer(twin))),
        ctypes.byref(c_rate(None)),
        ctypes.byref(c_rate(rate)),
        u64(now),
    )
    assert bucket.paid_until == twin.value == now - rate.rest_of_cycle
