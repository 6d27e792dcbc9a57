"""cuda.bindings.driver, the vendor's bindings of the driver API, on an emulated node."""

from collections.abc import Callable

import pytest

from .conftest import NVSHARE

Check = Callable[..., None]


@pytest.mark.parametrize(
    "program",
    [
        "contexts",
        "copies",
        "devices",
        "errors",
        "exhaustion",
        "graphs",
        "ipc_events",
        "kernels",
        "managed",
        "modules",
        "peers",
        "pools",
        "streams",
        "threads",
        "vmm",
    ],
)
def test_driver_api(check: Check, program: str) -> None:
    check(program)


@pytest.mark.parametrize(
    "launcher",
    [(), (NVSHARE, "run", "--allocation", "native", "--")],
    ids=["bare", "nvshare --native"],
)
def test_memory_for_other_processes(check: Check) -> None:
    """Memory that nvshare could move to the host cannot be shared by CUDA IPC."""
    check("ipc")
