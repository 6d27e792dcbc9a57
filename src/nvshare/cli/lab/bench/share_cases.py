"""The cases of `nvshare bench shares`: programs with their shares of GPUs, and what they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from nvshare.limits.fields import PriorityName

MIB = 1 << 20
GIB = 1 << 30
WHOLE = 100.0
# The GPUs; and the warm-up, until the daemon knows which programs compute all the time, and what
# the GPU does for programs that run beside others.
MODEL = "t4"
WARM_UP_S = 8.0

Style = Literal["async", "sync", "graph"]


@dataclass(frozen=True)
class Client:
    """A program that computes as much as it may. ``percent`` None: without a share."""

    percent: int | None = None
    gpu: int = 0
    style: Style = "async"
    # The seconds of one kernel, and how many kernels one launch of a graph runs.
    kernel: float = 0.005
    graph_kernels: int = 1
    memory: int = MIB
    priority: PriorityName = "normal"
    # It launches this many kernels, waits for them, and rests, at random up to twice as long; 0: it
    # never rests.
    burst: int = 0
    rest: float = 0.0
    # Without nvshare: the others are compared with it.
    is_bare: bool = False


@dataclass(frozen=True)
class Case:
    """Programs that run at the same time, and how far they may be from their targets.

    Tolerances are percentage points of a GPU; that of ``ratio`` is a part of the ratio between the
    first program and the second, and replaces them.
    """

    name: str
    clients: tuple[Client, ...]
    tolerance: float = 1.0
    sum_tolerance: float | None = None
    ratio_tolerance: float | None = None
    # The bursts of the first program are compared with those of the last, which runs alone; the
    # others must get their floor.
    is_about_latency: bool = False
    # Measured for at least this long; and whether it takes too long to run by default.
    seconds: float = 0.0
    is_long: bool = False

    @property
    def takes_turns(self) -> bool:
        """Whether the first program gets its time in turns, of which only whole rounds count.

        A round takes a minute. An arbitrary ten minutes may contain one more turn of either
        program, which is a tenth of its time.
        """
        return self.ratio_tolerance is not None

    @property
    def gpus(self) -> int:
        """The number of GPUs that it needs."""
        return max(client.gpu for client in self.clients) + 1

    def measured_seconds(self, asked: float) -> float:
        """Return how long to measure: whole cycles of a program that is alone.

        A kernel of 2 s at a share of 50 % comes every 4 s; in 30 s there are 7 or 8 of them.
        """
        seconds = max(asked, self.seconds)
        client = self.clients[0]
        if len(self.clients) > 1 or client.percent is None:
            return seconds
        cycle = client.kernel * client.graph_kernels * WHOLE / client.percent
        return ceil(round(seconds / cycle, 6)) * cycle

    def expected(self, got: Sequence[float]) -> list[float]:
        """Return what each program should get: its share, scaled down if the sum exceeds the GPU.

        A program without a share should get what the bare program gets; or, if it rests now and
        then, all that it wants.
        """
        sums = [sum(c.percent or 0 for c in self.clients if c.gpu == g) for g in range(self.gpus)]
        scales = [WHOLE / total if total > WHOLE else 1.0 for total in sums]
        bare = [have for client, have in zip(self.clients, got, strict=True) if client.is_bare]
        best = bare[0] if bare else WHOLE
        return [
            client.percent * scales[client.gpu]
            if client.percent is not None
            else (have if client.burst else best)
            for client, have in zip(self.clients, got, strict=True)
        ]


def _alone(name: str, tolerance: float = 2.0, **client: object) -> Case:
    return Case(name, (Client(**client),), tolerance)  # type: ignore[arg-type]


def _together(name: str, *clients: Client) -> Case:
    return Case(name, clients, 1.5, 2.0)


def _on(gpu: int, *percents: int) -> tuple[Client, ...]:
    return tuple(Client(percent, gpu) for percent in percents)


def _resting(rest: float) -> Client:
    return Client(style="sync", burst=4, rest=rest)


CASES: tuple[Case, ...] = (
    *(_alone(f"alone-{percent}", 1.0, percent=percent) for percent in range(10, 100, 10)),
    _alone("sync-25", percent=25, style="sync"),
    _alone("sync-60", percent=60, style="sync"),
    _alone("kernels-1ms-40", percent=40, kernel=0.001),
    _alone("kernels-100us-70", percent=70, kernel=0.0001),
    _alone("graph-30", percent=30, style="graph", graph_kernels=4),
    _alone("graph-70", percent=70, style="graph", graph_kernels=4),
    _alone("kernels-10ms-50", percent=50, kernel=0.01),
    _alone("kernels-100ms-30", percent=30, kernel=0.1),
    _alone("kernels-500ms-80", percent=80, kernel=0.5),
    _alone("kernels-1s-20", percent=20, kernel=1.0),
    _alone("kernels-2s-50", percent=50, kernel=2.0),
    _alone("kernels-2s-sync-30", percent=30, kernel=2.0, style="sync"),
    _together("pair-30-60", *_on(0, 30, 60)),
    _together("pair-25-75", *_on(0, 25, 75)),
    _together("pair-50-50", *_on(0, 50, 50)),
    _together("pair-10-90", *_on(0, 10, 90)),
    _together("pair-80-80", *_on(0, 80, 80)),
    _together("pair-sync-30-60", Client(30, style="sync"), Client(60, style="sync")),
    _together("four-on-two", *_on(0, 30, 60), *_on(1, 30, 60)),
    _together("apart-30-60", *_on(0, 30), *_on(1, 60)),
    Case("beside-light-50", (Client(50), _resting(0.1)), 2.0),
    Case("beside-heavy-30", (Client(30), _resting(0.02)), 2.0),
    Case("beside-two-40", (Client(40, style="sync"), _resting(0.1), _resting(0.15)), 2.0),
    Case("no-share", (Client(style="sync"), Client(style="sync", gpu=1, is_bare=True))),
    Case(
        "turns-30-60",
        (Client(30, memory=12 * GIB), Client(60, memory=12 * GIB)),
        ratio_tolerance=0.05,
        seconds=600.0,
        is_long=True,
    ),
    Case(
        "high-beside-low",
        (
            Client(priority="high", burst=4, rest=0.04),
            *(Client(priority="low"), Client(priority="low")),
            Client(priority="high", burst=4, rest=0.04, gpu=1),
        ),
        is_about_latency=True,
    ),
)
