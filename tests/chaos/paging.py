"""Whether GPUs compute, or wait for pages: progress beside what each GPU could give.

The emulated GPUs count both in their own time, so the load of this machine makes no difference: a
program that gets no processor gives them nothing to do at all.
"""

from nvshare.lab.emulator.report import Report

# Programs that begin populate their memory, and some of them free it and begin again.
MOST = 0.3
# Of so little work, nothing follows.
LEAST_NS = 100_000_000


def lost_part(before: Report, after: Report) -> float:
    """Return the part of a GPU's busy time that went into page faults, from one look to another.

    That of the GPU with the largest part. 0 if there was too little to do.
    """
    return max(_of_gpu(gpu.index, before, after) for gpu in after.gpus)


def _of_gpu(index: int, before: Report, after: Report) -> float:
    computed = faulted = 0
    for process in after.processes:
        now, earlier = process.gpus[index], before.process(process.pid)
        then = earlier.gpus[index] if earlier else None
        computed += now.compute_ns - (then.compute_ns if then else 0)
        faulted += now.fault_ns - (then.fault_ns if then else 0)
    busy = computed + faulted
    return faulted / busy if busy >= LEAST_NS else 0.0
