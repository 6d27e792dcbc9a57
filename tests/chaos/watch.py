"""Polls the node and the daemon: which programs make progress, and which GPU is idle.

The node says what its GPUs have done, the daemon which programs wait. Both may keep us waiting (a
stopped process may hold the node's lock), so each has a thread of its own.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.report import GpuReport, Report, read_report
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

from .excuses import Excuses
from .idle import IdleWatch, Sample
from .journal import Journal
from .processes import processor_delay
from .programs import Program
from .supervisor import Supervisor

_REPORTS = 0.05
_STATUSES = 0.2
# For this many seconds an answer of the daemon about waiting programs counts as current.
_FRESH = 0.6


class Watch:
    """Two threads that poll, and their last results."""

    def __init__(
        self,
        node: Node,
        supervisor: Supervisor,
        programs: Sequence[Program],
        excuses: Excuses,
        journal: Journal,
        idle_bound: float,
    ) -> None:
        self._node = node
        self._supervisor = supervisor
        self._programs = programs
        self._excuses = excuses
        self._journal = journal
        self._idle = [IdleWatch(idle_bound) for _ in node.gpu_names]
        self._delays = [Delays() for _ in node.gpu_names]
        self._over = threading.Event()
        self._status: tuple[float, NodeStatus] | None = None
        self._threads = [
            threading.Thread(target=self._repeat, args=(look, pause), daemon=True)
            for look, pause in ((self._look_at_node, _REPORTS), (self._ask_daemon, _STATUSES))
        ]

    def __enter__(self) -> "Watch":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(20)

    @property
    def longest_idle(self) -> float:
        """The longest time for which a GPU was idle without an explanation."""
        return max(one.longest for one in self._idle)

    @property
    def watched(self) -> float:
        """How long GPUs were wanted without a fault that would have explained idleness."""
        return sum(one.watched for one in self._idle)

    @property
    def status(self) -> NodeStatus | None:
        """The daemon's last status, if it is recent."""
        seen = self._status
        return seen[1] if seen and time.monotonic() - seen[0] < _FRESH else None

    def _repeat(self, look: Callable[[], None], pause: float) -> None:
        while not self._over.wait(pause):
            look()

    def _ask_daemon(self) -> None:
        began = time.monotonic()
        try:
            self._status = began, self._supervisor.control.status()
        except (NvshareError, OSError, ValueError):
            self._status = None

    def _look_at_node(self) -> None:
        try:
            report = read_report(self._node.folder)
        except NvshareError:
            return
        kernels = {
            one.pid: sum(account.kernels for account in one.gpus) for one in report.processes
        }
        for program in self._programs:
            program.note_kernels(kernels)
        self._judge(report)

    def _judge(self, report: Report) -> None:
        status, now = self.status, time.monotonic()
        daemon = self._supervisor.pid
        for gpu in report.gpus:
            wanting = list(_wanting(status, gpu.uuid)) if status else []
            users = {one.pid for one in status.clients if one.device == gpu.uuid} if status else ()
            delay = self._delays[gpu.index].add({*users, *([daemon] if daemon else ())})
            sample = Sample(
                now,
                _activity(gpu),
                is_wanted=bool(wanting),
                is_excused=self._excuses.holds(gpu.index),
                delay=delay,
            )
            idle = self._idle[gpu.index].note(sample)
            if idle is not None:
                who = ", ".join(f"{one.program} (pid {one.pid})" for one in wanting)
                self._journal.fail(
                    f"GPU {gpu.index} was idle for {idle:.2f} s while programs waited for it: {who}"
                )


def _activity(gpu: GpuReport) -> tuple[int, ...]:
    return (
        *(gpu.busy_ns, gpu.moving_ns, gpu.in_bytes, gpu.out_bytes),
        *(gpu.context_bytes, gpu.plain_bytes, gpu.faults),
    )


def _wanting(status: NodeStatus, uuid: str) -> Iterator[ClientStatus]:
    """Programs that wait for a GPU itself: not for a person, another GPU, or host memory."""
    for client in status.clients:
        is_held = client.parked or client.held_up or client.gang_waits_for
        if client.device == uuid and client.state == "waiting" and not is_held:
            yield client


class Delays:
    """The total time that processes waited for a processor, over a changing set of them."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._total = 0.0

    def add(self, pids: Collection[int]) -> float:
        """Add the delays of these processes; return the total so far."""
        now = {pid: processor_delay(pid) for pid in pids}
        self._total += sum(max(0.0, now[pid] - self._seen.get(pid, now[pid])) for pid in pids)
        self._seen = now
        return self._total
