"""Programs whose memory the host or a cgroup cannot hold: none is killed, and all finish."""

from collections.abc import Callable
from pathlib import Path

from nvshare.lab.emulator.workload import workload_command
from nvshare.telemetry.snapshot import NodeStatus

from ..cgroups import cgroup
from .conftest import Sharing, short_turns

__all__ = ["cgroup"]

Share = Callable[..., Sharing]
GIB = 1 << 30
# Four arrays of 2,992 MiB each, for about half a minute of emulated time.
ADD = workload_command("pytorch-add", "--iterations", "700")
ENTER = ("sh", "-c", 'echo $$ > "$0"; exec "$@"')


def test_three_of_12_gb_with_a_host_of_20(share: Share) -> None:
    sharing = share("t4", speed=40, data="off")
    sharing.daemon().change_devices("all", short_turns(0.3))
    sharing.daemon().change_node({"host_memory": "20Gi"})
    programs = [sharing.start(*ADD) for _ in range(3)]
    status = sharing.until_status(lambda status: any(_reasons(status)))
    known = ("host_memory allows 20.0 GiB", "of other programs that cannot leave the GPU")
    assert any(part in why for part in known for why in _reasons(status))
    endings = [(program.communicate(timeout=60)[1], program.returncode) for program in programs]
    # The GPU and the host cannot hold all three, and so one waits until another ends.
    assert [code for _, code in endings] == [0, 0, 0], endings
    assert not any("CUDA_ERROR_OUT_OF_MEMORY" in errors for errors, _ in endings)


def _reasons(status: NodeStatus) -> list[str]:
    """Why memory cannot leave, or a program waits."""
    return [why for c in status.clients for why in (c.stuck_because, c.held_up_because)]


def test_a_cgroup_that_is_too_small_for_what_would_leave(share: Share, cgroup: Path) -> None:
    sharing = share("t4", speed=40, data="off")
    sharing.daemon().change_devices("all", short_turns(0.3))
    first = sharing.start(*ENTER, cgroup / "cgroup.procs", *ADD)
    sharing.until_status(lambda status: any(c.allocated > 11 * GIB for c in status.clients))
    second = sharing.start(*ADD)
    status = sharing.until_status(lambda status: any(c.held_up for c in status.clients))
    (stuck,) = (client for client in status.clients if client.pid == first.pid)
    assert stuck.stuck > 8 * GIB
    assert "memory cgroup's limit of 1.0 GiB" in stuck.stuck_because
    assert [first.wait(60), second.wait(60)] == [0, 0]
    assert "of its memory cannot leave the GPU, and other programs wait" in first.communicate()[1]
    assert "has to wait: beside its" in second.communicate()[1]
