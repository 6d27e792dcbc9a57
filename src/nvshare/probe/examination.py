"""One examination of a GPU, from the first probe to the last. Shows nothing, saves nothing.

A probe that fails records the reason in the readings, and the next one starts with a new context.
``overdue`` reports a call of the driver that never returns, from another thread.
"""

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nvshare.errors import BadInputError, NvshareError
from nvshare.lab.emulator.emulated_node import CONF_FILE
from nvshare.probe import host
from nvshare.probe.bench import PIECE, QUICK_PIECE, Bench, fitting_piece
from nvshare.probe.clock import Clock
from nvshare.probe.driver import CudaError, Driver, NoDriverError
from nvshare.probe.gpu import MIB
from nvshare.probe.nvml import Nvml
from nvshare.probe.probes import PROBES
from nvshare.probe.readings import Readings, Unavailable

# A smaller piece could not be told from noise.
_LEAST = 16 * MIB
# Together the probes should take five minutes at most.
_PATIENCE_S = 600.0
_INTERPOSER = "libnvshare.so"


@contextmanager
def examination(ordinal: int, quick: bool) -> Iterator[Bench]:
    """Prepare everything for the probes."""
    if host.loaded(_INTERPOSER):
        raise BadInputError(
            "this process is under nvshare itself",
            why="the probes would measure the interposer and not the driver",
            do="run it outside of `nvshare run`",
        )
    try:
        driver = Driver()
        driver.call("cuInit", 0)
        address = _bus_id(driver, ordinal)
    except (NoDriverError, CudaError) as error:
        raise NvshareError(
            "there is no GPU that can be examined",
            why=str(error),
            do="`nvshare doctor` checks the installation; on a machine without a GPU try "
            "`nvshare emulate --gpus t4 -- nvshare doctor --gpu`",
        ) from error
    nvml = _open_nvml(address)
    try:
        piece = fitting_piece(nvml.free_bytes() or 0, QUICK_PIECE if quick else PIECE)
        if piece < _LEAST:
            raise NvshareError(
                "there is too little memory for the probes",
                why="an eighth of the GPU's free memory, and a quarter of the free memory of "
                f"host and cgroup, have to be {_LEAST // MIB} MiB at least",
                do="wait until the GPU is free, or give this process more memory",
            )
        rounds = 3 if quick else 5
        yield Bench(driver, Clock(), ordinal, nvml, Readings(), piece, quick, rounds)
    finally:
        nvml.close()


def examine(bench: Bench, begun: Callable[[str], None], ended: Callable[[], None]) -> None:
    """Run every probe; call ``begun`` with its name before, and ``ended`` after each."""
    for name, probe in PROBES.items():
        begun(name)
        began = time.monotonic()
        try:
            probe(bench)
        except (CudaError, NvshareError, OSError, RuntimeError, Unavailable) as error:
            bench.readings.miss(name, str(error) or type(error).__name__)
        bench.readings.note(f"{name}.took_s", round(time.monotonic() - began, 3))
        _forget_contents(bench)
        _forget_copies(bench)
        ended()


@contextmanager
def overdue(action: Callable[[], None]) -> Iterator[None]:
    """Run an action if the probes take far too long: the driver may hang, and Python with it."""
    timer = threading.Timer(_PATIENCE_S, action)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _forget_contents(bench: Bench) -> None:
    """On a node that keeps no data, the contents of memory cannot be checked."""
    if bench.node is None or keeps_data(bench.node):
        return
    for name in [name for name in bench.readings.values if name.endswith("wrong_words")]:
        del bench.readings.values[name]
        bench.readings.miss(name, "this emulated node keeps no data (--data off)")


def _forget_copies(bench: Bench) -> None:
    """On a node that keeps data, times are those of this machine's CPU, which makes the copies."""
    if bench.node is None or not keeps_data(bench.node):
        return
    values = bench.readings.values
    for name in [name for name in values if name.startswith("mapped.") and "gb_per_s" in name]:
        del values[name]
        bench.readings.miss(name, "this emulated node keeps data: try --data off")


def keeps_data(node: Path) -> bool:
    """Whether the memory of an emulated node has contents."""
    return "data=on" in (node / CONF_FILE).read_text(encoding="ascii").splitlines()


def _bus_id(driver: Driver, ordinal: int) -> str:
    count = ctypes.c_int()
    driver.call("cuDeviceGetCount", ctypes.byref(count))
    if ordinal >= count.value:
        raise BadInputError(
            f"there is no GPU {ordinal}",
            why=f"CUDA lists {count.value}",
            do="`nvidia-smi -L` lists them; CUDA counts those of CUDA_VISIBLE_DEVICES",
        )
    text = ctypes.create_string_buffer(32)
    driver.call("cuDeviceGetPCIBusId", text, len(text), ordinal)
    return text.value.decode()


def _open_nvml(address: str) -> Nvml:
    import pynvml

    try:
        return Nvml(address)
    except pynvml.NVMLError as error:
        raise NvshareError(
            "NVML does not know the GPU that CUDA has",
            why=str(error),
            do="check that libnvidia-ml.so.1 is of the same driver as libcuda.so.1",
        ) from error
