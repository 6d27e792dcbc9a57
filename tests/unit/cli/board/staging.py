"""A machine with two GPUs that shows everything there is to see."""

from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import NodeStatus

from ...telemetry.making import GIB, make_client, make_gpu, make_node

HISTORY = (0, 0, 100, 100, 50, 10, 0, 100, 90, 80, 70)


def busy_node() -> NodeStatus:
    """Two large programs take turns on GPU 0, a third has GPU 1 for itself."""
    parts = {"computing": 27.6, "waiting": 30.0, "memory_in": 2.4}
    large = {"allocated": 12 * GIB, "parts": parts, "computing_percent": HISTORY}
    used = {1: 50.0, 10: 46.0, 60: 46.0}
    return make_node(
        make_client(1, used_percent=used, **large),
        make_client(
            2,
            state="waiting",
            user="4242424242",
            program="finetune_llama.py",
            swapped_out=10 * GIB,
            used_percent=used,
            limits=ClientLimits(memory_limit=13 * GIB, compute_percent=40, priority="high"),
            group_used=14 * GIB,
            **large,
        ),
        make_client(3, device="GPU-1", state="idle", pod_name="team/notebook", program="python"),
        gpus=(
            make_gpu(allocated=24 * GIB, turn_ends_in=20.3),
            make_gpu(index=1, uuid="GPU-1", allocated=3 * GIB),
        ),
    )
