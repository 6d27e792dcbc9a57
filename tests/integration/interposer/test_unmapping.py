"""An unmapping of several mappings fails halfway: only the remaining ones stay counted."""

import subprocess
import sys

import pytest

# Under a limit, free memory shows how much the interposer counts.
UNMAPS = """
from cuda.bindings import driver

GRAIN = 2 << 20

def do(result):
    assert not result[0], result[0]
    return result[1] if len(result) > 1 else None

do(driver.cuInit(0))
do(driver.cuCtxSetCurrent(do(driver.cuDevicePrimaryCtxRetain(0))))
wanted = driver.CUmemAllocationProp()
wanted.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
wanted.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
whole = do(driver.cuMemGetInfo())
address = int(do(driver.cuMemAddressReserve(3 * GRAIN, 0, 0, 0)))
# The last one has a handle beside its mapping.
for number in range(3):
    handle = do(driver.cuMemCreate(GRAIN, wanted, 0))
    do(driver.cuMemMap(address + number * GRAIN, GRAIN, 0, handle, 0))
    if number < 2:
        do(driver.cuMemRelease(handle))

def used():
    return (whole - do(driver.cuMemGetInfo())) // GRAIN

def unmap(begin, count):
    (error,) = driver.cuMemUnmap(address + begin * GRAIN, count * GRAIN)
    return error.name.removeprefix("CUDA_")

print(used())
for begin, count in ((0, 3), (0, 1), (1, 2)):
    print(unmap(begin, count), used())
do(driver.cuMemRelease(handle))
print(used())
"""


@pytest.mark.parametrize(
    ("allocation", "faults", "rest"),
    [
        ("managed", "unmap@2=999", ["SUCCESS 1", "0"]),
        # Calls on explicit memory are tried several times, so that a fault has to last.
        ("managed", "unmap+2=999", ["ERROR_UNKNOWN 2", "2"]),
        ("explicit", "unmap+2=999", ["ERROR_UNKNOWN 2", "2"]),
    ],
)
def test_what_was_unmapped_all_the_same_is_not_counted_any_more(
    environment: dict[str, str], allocation: str, faults: str, rest: list[str]
) -> None:
    variables = {
        "NVSHARE_ALLOCATION": allocation,
        "NVSHARE_EMULATOR_FAIL": faults,
        "NVSHARE_GPU_MEMORY_LIMIT": "64Mi",
    }
    program = subprocess.run(
        [sys.executable, "-c", UNMAPS],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    gone = ["3", "ERROR_UNKNOWN 2", "ERROR_INVALID_VALUE 2"]
    assert program.stdout.splitlines() == [*gone, *rest], program.stderr
