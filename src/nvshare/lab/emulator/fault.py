"""Breaks and repairs an emulated GPU, as far as NVML shows it: for testing monitors of GPUs."""

import ctypes
import os

from nvshare.errors import BadInputError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import NVML, library_folder

# The GPU has fallen off the bus. NVML calls it lost until it is repaired.
XID_LOST = 79


def set_fault(node: Node, gpu: int, xid: int, *, needs_reset: bool) -> None:
    """Give a GPU an XID; 0 repairs it."""
    _change(node, gpu, "nvshareEmulatorFault", ctypes.c_uint(xid), int(needs_reset))


def steal_memory(node: Node, gpu: int, size: int) -> None:
    """Let an outsider hold so much of a GPU's memory, or all that is free; 0 gives it back."""
    _change(node, gpu, "nvshareEmulatorSteal", ctypes.c_ulonglong(size))


def refuse_answers(node: Node, gpu: int, *, refuses: bool) -> None:
    """Let NVML answer NOT_SUPPORTED to every query of a GPU, or end that."""
    _change(node, gpu, "nvshareEmulatorRefuse", int(refuses))


def _change(node: Node, gpu: int, function: str, *arguments: object) -> None:
    if not 0 <= gpu < len(node.gpu_names):
        raise BadInputError(
            f'the emulated node "{node.name}" has no GPU {gpu}',
            why=f"its GPUs are 0 to {len(node.gpu_names) - 1}",
            do="name one of them",
        )
    library = ctypes.CDLL(str(library_folder() / NVML))
    result = library[function](os.fsencode(node.folder), gpu, *arguments)
    if result != 0:
        raise BadInputError(
            f'the emulated node "{node.name}" cannot be changed',
            why=f"the library answered with error {result}, and printed the reason to stderr",
            do="check that the node belongs to you and was started by this version of nvshare",
        )
