"""The other side of the fixture ``emulated``: runs functions of files, each with a CUDA driver.

A program and not a module for tests: it is started by conftest.py. Every line that it reads is an
order, for which it forks a child. Most of a process's start is the import of the bindings and of
pytest, which the child need not repeat. The end of the child is written as a line.
"""

import ctypes
import json
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest  # noqa: F401  the files of the tests import it
from cuda.bindings import driver

# For the imports of the test files from each other.
sys.path.append(str(Path(__file__).parents[3]))


class Cuda:
    """``cuda.bindings.driver`` with errors as exceptions and results without the error code.

    The primary context of device 0 is current. ``libcuda`` is the library itself, for functions
    and versions of functions that the bindings do not have.
    """

    def __init__(self) -> None:
        self.libcuda = ctypes.CDLL("libcuda.so.1")
        self.cuInit(0)
        self.device = self.cuDeviceGet(0)
        self.context = self.cuDevicePrimaryCtxRetain(self.device)
        self.cuCtxSetCurrent(self.context)

    def __getattr__(self, name: str) -> Any:
        thing = getattr(driver, name)
        if isinstance(thing, type) or not name.startswith("cu"):
            return thing

        def checked(*arguments: Any) -> Any:
            code, *results = thing(*arguments)
            if code != driver.CUresult.CUDA_SUCCESS:
                raise RuntimeError(f"{name}: {code.name}")
            return results[0] if len(results) == 1 else tuple(results) or None

        return checked

    def error(self, name: str, *arguments: Any) -> str:
        """Call a function that is expected to fail; return the name of its error."""
        function: Callable[..., Any] = getattr(driver, name)
        return str(function(*arguments)[0].name.removeprefix("CUDA_ERROR_"))

    def read(self, address: Any, count: int) -> bytes:
        """Copy bytes from the device, or from wherever the address points."""
        buffer = bytearray(count)
        self.cuMemcpyDtoH(buffer, address, count)
        return bytes(buffer)

    def write(self, address: Any, data: bytes) -> None:
        """Copy bytes to the device."""
        self.cuMemcpyHtoD(address, data, len(data))

    def free(self) -> int:
        """The free bytes of the GPU."""
        return int(self.cuMemGetInfo()[0])


def serve() -> dict[str, Any] | None:
    """Fork children until there are no more orders. In a child, return its own order."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            order: dict[str, Any] = json.loads(line)
            return order
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def obey(order: dict[str, Any]) -> None:
    """Be a program in the order's environment, whose output goes to the order's file."""
    os.environ.clear()
    os.environ.update(order["environment"])
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT)
    for standard in (1, 2):
        os.dup2(output, standard)
    # Not as __main__: the test file must not run as a program.
    runpy.run_path(order["file"], run_name="inside")[order["function"]](Cuda())


if __name__ == "__main__" and (own := serve()):
    obey(own)
