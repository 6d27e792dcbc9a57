"""cuda.bindings.driver, the vendor's bindings of the driver API, on an emulated node."""

from collections.abc import Callable

import pytest

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
        "ipc",
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
