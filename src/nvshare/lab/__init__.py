"""The laboratory: emulated GPU nodes and the simulator, for machines without a GPU.

It is part of the package, because users test their own software on emulated GPUs, but a node with
real GPUs shares them without it. Its verbs are in ``nvshare.cli.lab``, its native half is the
folder ``lab``. ``.importlinter`` lists the product's modules that may know it.
"""
