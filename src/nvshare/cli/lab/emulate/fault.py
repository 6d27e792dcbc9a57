"""``nvshare emulate fault`` and ``heal``: break an emulated GPU, and mend it."""

import click

from nvshare.cli.lab.emulate.options import node_name
from nvshare.cli.quantities import Quantity
from nvshare.lab.emulator.emulated_node import find
from nvshare.lab.emulator.fault import XID_LOST, refuse_answers, set_fault, steal_memory
from nvshare.lab.emulator.root import node_root

_gpu = click.option("--gpu", type=int, default=0, show_default=True, help="Index of the GPU.")


@click.command()
@node_name
@_gpu
@click.option(
    "--xid",
    type=click.IntRange(1, 999),
    default=XID_LOST,
    show_default=True,
    help="Number of the error. With the default, NVML reports the GPU as lost.",
)
@click.option("--harmless", is_flag=True, help="The GPU needs no reset afterwards.")
@click.option(
    "--steal",
    metavar="SIZE",
    type=Quantity(),
    help="Instead of an error: let another process hold this much of its memory.",
)
@click.option(
    "--unsupported",
    is_flag=True,
    help="Instead of an error: let NVML answer NOT_SUPPORTED.",
)
def fault(
    name: str, gpu: int, xid: int, harmless: bool, steal: int | None, unsupported: bool
) -> None:
    """Give a GPU of an emulated node an XID error, as far as NVML shows."""
    node = find(node_root(), name)
    if unsupported:
        refuse_answers(node, gpu, refuses=True)
    elif steal is not None:
        steal_memory(node, gpu, steal)
    else:
        set_fault(node, gpu, xid, needs_reset=not harmless)


@click.command()
@node_name
@_gpu
def heal(name: str, gpu: int) -> None:
    """Mend a GPU of an emulated node, and give back memory that was stolen."""
    node = find(node_root(), name)
    set_fault(node, gpu, 0, needs_reset=False)
    refuse_answers(node, gpu, refuses=False)
    steal_memory(node, gpu, 0)
