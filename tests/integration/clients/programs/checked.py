"""The driver API with exceptions instead of error codes, and the first calls of every program."""

from typing import Any

from cuda.bindings import driver as cu


class DriverError(Exception):
    """A call failed; its name tells how."""


def ok(result: tuple[Any, ...]) -> Any:
    """Return the results of a call without its error code."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise DriverError(code.name)
    return values[0] if len(values) == 1 else values


def begin(device: int = 0) -> Any:
    """Initialise, and make the primary context of a device current."""
    ok(cu.cuInit(0))
    handle = ok(cu.cuDeviceGet(device))
    ok(cu.cuCtxSetCurrent(ok(cu.cuDevicePrimaryCtxRetain(handle))))
    return handle


def failure(result: tuple[Any, ...]) -> str:
    """Return the name of a call's error."""
    return str(result[0].name)
