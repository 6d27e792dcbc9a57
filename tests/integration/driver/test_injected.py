"""Injected faults, and the memory that a process is reported to have left."""

import ctypes
import json
import mmap
import os
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.report import read_report
from tests.integration.driver.physical import GRAIN, Window, access, properties

MIB = 1 << 20
FAULTS = (
    "create/3=2,map@2=999,access/2=1,register/2=712,unmap@1=1,release@1=1,reserve@2=2,unreserve@1=1"
)
NOTHING = {
    "handles": 0,
    "mappings": 0,
    "reservations": 0,
    "registrations": 0,
    "host_allocations": 0,
}


def every_so_many_calls(cu: Any) -> None:
    create = GRAIN, properties(cu), 0
    for _ in range(2):
        handles = [cu.cuMemCreate(*create) for _ in range(2)]
        assert cu.error("cuMemCreate", *create) == "OUT_OF_MEMORY"
    address = int(cu.cuMemAddressReserve(4 * GRAIN, 0, 0, 0))
    assert cu.error("cuMemAddressReserve", GRAIN, 0, 0, 0) == "OUT_OF_MEMORY"
    cu.cuMemAddressReserve(GRAIN, 0, 0, 0)
    # A wrong call fails as always.
    assert cu.error("cuMemMap", address + 1, GRAIN, 0, handles[0], 0) == "INVALID_VALUE"
    cu.cuMemMap(address, GRAIN, 0, handles[0], 0)
    second = address + GRAIN, GRAIN, 0, handles[1], 0
    assert cu.error("cuMemMap", *second) == "UNKNOWN"
    cu.cuMemMap(*second)
    for _ in range(2):
        cu.cuMemSetAccess(address, 2 * GRAIN, [access(cu)], 1)
        assert cu.error("cuMemSetAccess", address, 2 * GRAIN, [access(cu)], 1) == "INVALID_VALUE"
    assert cu.error("cuMemUnmap", address, GRAIN) == "INVALID_VALUE"
    cu.cuMemUnmap(address, GRAIN)
    assert cu.error("cuMemRelease", handles[0]) == "INVALID_VALUE"
    cu.cuMemRelease(handles[0])
    spare = int(cu.cuMemAddressReserve(GRAIN, 0, 0, 0))
    assert cu.error("cuMemAddressFree", spare, GRAIN) == "INVALID_VALUE"
    cu.cuMemAddressFree(spare, GRAIN)
    cu.cuMemHostAlloc(4096, 0)
    assert cu.error("cuMemHostAlloc", 4096, 0) == "HOST_MEMORY_ALREADY_REGISTERED"


def from_the_second_on(cu: Any) -> None:
    cu.cuMemCreate(GRAIN, properties(cu), 0)
    for _ in range(3):
        assert cu.error("cuMemCreate", GRAIN, properties(cu), 0) == "OUT_OF_MEMORY"


def in_the_middle(cu: Any) -> None:
    """Of three mappings the second fails: the first is gone, and the others are there."""
    address = int(cu.cuMemAddressReserve(3 * GRAIN, 0, 0, 0))
    for number in range(3):
        handle = cu.cuMemCreate(GRAIN, properties(cu), 0)
        cu.cuMemMap(address + number * GRAIN, GRAIN, 0, handle, 0)
        cu.cuMemRelease(handle)
    free = cu.free()
    # A range that is not of whole mappings is wrong, and nothing happens to it.
    assert cu.error("cuMemUnmap", address, 3 * GRAIN - 4096) == "INVALID_VALUE"
    assert cu.error("cuMemUnmap", address, 3 * GRAIN) == "UNKNOWN"
    assert cu.free() == free + GRAIN
    assert cu.error("cuMemUnmap", address, GRAIN) == "INVALID_VALUE"
    cu.cuMemUnmap(address + GRAIN, 2 * GRAIN)
    assert cu.free() == free + 3 * GRAIN


def another_takes_it(cu: Any) -> None:
    """Every second release: free memory is as before, and no process of the node has the rest."""
    handles = [cu.cuMemCreate(100 * MIB, properties(cu), 0) for _ in range(2)]
    free = cu.free()
    cu.cuMemRelease(handles[0])
    assert cu.free() == free + 100 * MIB
    cu.cuMemRelease(handles[1])
    assert cu.free() == free + 100 * MIB
    cu.cuMemCreate(100 * MIB, properties(cu), 0)
    assert cu.error("cuMemCreate", 100 * MIB, properties(cu), 0) == "OUT_OF_MEMORY"


def nothing_is_left(cu: Any) -> None:
    folder = Path(os.environ["NVSHARE_EMULATOR_NODE"])
    libraries = Path(os.environ["LD_LIBRARY_PATH"].split(":")[0])

    def leaks() -> dict[str, int]:
        process = read_report(folder, libraries).process(os.getpid())
        assert process is not None
        return {name: getattr(process, name) for name in NOTHING}

    assert leaks() == NOTHING
    window = Window(cu)
    memory = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    cu.cuMemHostRegister(address, 4096, 0)
    host = cu.cuMemHostAlloc(4096, 0)
    assert leaks() == dict.fromkeys(NOTHING, 1)
    again = cu.cuMemRetainAllocationHandle(window.address)
    assert leaks()["handles"] == 2
    cu.cuMemRelease(again)
    cu.cuMemUnmap(window.address, GRAIN)
    cu.cuMemRelease(window.handle)
    cu.cuMemAddressFree(window.address, GRAIN)
    cu.cuMemHostUnregister(address)
    cu.cuMemFreeHost(host)
    assert leaks() == NOTHING


def something_is_left(cu: Any) -> None:
    Window(cu)
    Window(cu, mapped=False)


def test_calls_that_fail(emulated: Any) -> None:
    emulated(every_so_many_calls, variables={"NVSHARE_EMULATOR_FAIL": FAULTS})


def test_calls_that_fail_from_then_on(emulated: Any) -> None:
    emulated(from_the_second_on, variables={"NVSHARE_EMULATOR_FAIL": "create+2=2"})


def test_an_unmapping_that_fails_in_the_middle(emulated: Any) -> None:
    emulated(in_the_middle, variables={"NVSHARE_EMULATOR_FAIL": "unmap@2=999"})


@pytest.mark.parametrize("model", [True, False])
def test_memory_that_is_stolen(emulated: Any, model: bool) -> None:
    emulated(another_takes_it, model=model, variables={"NVSHARE_EMULATOR_STEAL": "release/2"})


@pytest.mark.parametrize("wrong", ["create", "create/0=2", "create/1", "make/1=2", "create/1=2;"])
def test_mistakes_are_told(emulated: Any, wrong: str) -> None:
    variables = {"NVSHARE_EMULATOR_FAIL": wrong}
    printed = emulated(something_is_left, variables=variables, ends=1)
    assert f"NVSHARE_EMULATOR_FAIL is not understood: {wrong}" in printed


def test_a_process_tells_what_it_has(emulated: Any) -> None:
    emulated(nothing_is_left)


def test_a_process_that_ends_tells_what_it_left(emulated: Any, tmp_path: Path) -> None:
    leaks = tmp_path / "leaks"
    for body in (nothing_is_left, something_is_left):
        emulated(body, variables={"NVSHARE_EMULATOR_LEAKS": str(leaks)})
    first, second = (json.loads(line) for line in leaks.read_text().splitlines())
    del first["pid"], second["pid"]
    assert first == NOTHING | {"injected": 0}
    assert second == NOTHING | {"handles": 1, "mappings": 1, "reservations": 2, "injected": 0}


def test_it_tells_how_many_calls_were_made_to_fail(emulated: Any, tmp_path: Path) -> None:
    leaks = tmp_path / "leaks"
    variables = {"NVSHARE_EMULATOR_FAIL": FAULTS, "NVSHARE_EMULATOR_LEAKS": str(leaks)}
    emulated(every_so_many_calls, variables=variables)
    assert json.loads(leaks.read_text())["injected"] == 10
