"""Scripts for lab/tests/model_play.c: a node in memory whose time a test moves on.

Times are emulated nanoseconds, amounts are bytes. Each object here has a number on the other side,
given in the order of creation.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

NS = 1
US = 1000 * NS
MS = 1000 * US
S = 1000 * MS

KB, MB, GB = 10**3, 10**6, 10**9
MIB = 1024**2
BLOCK = 2 * MIB

# As in lab/emulator/model/state.h.
COMPUTE, BUS_IN, BUS_OUT = 0, 1, 2
FIXED_COST, OVERWRITES, READS_ONLY, UNTIL_TOLD = 1, 2, 4, 8
UNTIL_TOLD_NS = 2**62
NOWHERE, HOST = 0, 1
MAX_QUEUES, QUEUE_SLOTS, REFERENCE_SLOTS = 128, 1024, 2048

Part: TypeAlias = "Range | tuple[Range, int, int]"


def on_gpu(gpu: int) -> int:
    """Return the location that stands for a GPU."""
    return 2 + gpu


class Play:
    """One node. Ends with the process that plays it."""

    def __init__(self, process: "subprocess.Popen[str]", conf: Path) -> None:
        self._process = process
        self._processes: list[Process] = []
        self.now = 0
        self.problem: str | None = self.ask("begin", conf)

    def ask(self, *words: object) -> Any:
        """Send a command and return its answer."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        to.write(" ".join(str(word) for word in words) + "\n")
        to.flush()
        line = back.readline()
        if not line:
            assert self._process.stderr is not None
            raise AssertionError(self._process.stderr.read())
        return json.loads(line)

    def process(self) -> "Process":
        """Start a program, in the first free place."""
        numbers = {process.number for process in self._processes if process.alive}
        number = next(n for n in range(len(numbers) + 1) if n not in numbers)
        process = Process(self, number)
        self._processes.append(process)
        self.ask("process", number)
        return process

    def advance(self, ns: int) -> None:
        """Let time pass."""
        self.advance_to(self.now + ns)

    def advance_to(self, now: int) -> None:
        """Let time pass until an instant."""
        self.now = now
        self.ask("advance", now)

    def report(self) -> Any:
        """The report on the whole node."""
        return self.ask("report")

    def gpu(self, index: int = 0) -> Any:
        """The report on one GPU."""
        return self.report()["gpus"][index]

    def difference(self) -> str | None:
        """The first derived value that does not match a recount; None when all is well."""
        answer: str | None = self.ask("difference")
        return answer


@dataclass
class Process:
    """A program on the node."""

    play: Play
    number: int
    alive: bool = True
    queues: int = 0
    blocks: int = 0

    def queue(self, gpu: int = 0, context: int = 1, priority: int = 0) -> "Queue":
        """Open a queue."""
        queue = Queue(self, self.queues)
        self.queues += 1
        # Numbers are unsigned over there, and a priority is 16 bits of one.
        self.play.ask("queue", self.number, queue.number, gpu, context, priority % 2**16)
        return queue

    def range(self, blocks: int, at: int | None = None) -> "Range":
        """Allocate managed memory; `at` is a block that is known to be free."""
        first = self.blocks if at is None else at
        number = self.play.ask("range", self.number, first, blocks)
        if number < 0:
            raise MemoryError(number)
        self.blocks = max(self.blocks, first + blocks)
        return Range(self, number, first, blocks)

    def plain(self, size: int, gpu: int = 0) -> int:
        """Allocate plain memory; return the bytes that had to leave, or a negative error."""
        return int(self.play.ask("plain", self.number, gpu, size))

    def free_plain(self, size: int, gpu: int = 0) -> None:
        """Free plain memory."""
        self.play.ask("unplain", self.number, gpu, size)

    def limit(self, own: int = 0, cgroup: int = 0, most: int = 0, used: int = 0) -> None:
        """Set its limit on the host: its own, or that of all processes of its cgroup."""
        self.play.ask("limit", self.number, own, cgroup, most, used)

    def report(self) -> Any:
        """The report on this process."""
        return self.play.report()["processes"][str(self.number)]

    def context(self, gpu: int = 0) -> int:
        """Take the memory of a context; return 0 or a negative error."""
        return int(self.play.ask("context", self.number, gpu))

    def kill(self) -> None:
        """Take everything back, as for a process that is found dead."""
        self.alive = False
        self.play.ask("kill", self.number)

    def account(self, gpu: int = 0) -> Any:
        """The memory and the use of a GPU by the process."""
        return self.play.report()["processes"][str(self.number)]["accounts"][gpu]

    def busy(self, gpu: int = 0, age: int = 1) -> tuple[int, int]:
        """Percent that the GPU was busy in a past tenth of a second, and with this process."""
        whole, own = self.play.ask("busy", self.number, gpu, age)
        return whole, own


@dataclass
class Range:
    """Managed memory."""

    process: Process
    number: int
    first: int
    blocks: int

    @property
    def size(self) -> int:
        """In bytes."""
        return self.blocks * BLOCK

    def where(self) -> str:
        """A letter per block: - is nowhere, h is the host, 0 is the first GPU."""
        report = self.process.play.report()
        return str(report["processes"][str(self.process.number)]["ranges"][self.number])

    def pages(self) -> str:
        """The pages of each block on the host: - none, p pages, m pages that are mapped."""
        return str(self.process.report()["pages"][self.number])

    def place(self, location: int, first: int = 0, blocks: int | None = None) -> "Range":
        """Put blocks somewhere, at once."""
        count = self.blocks - first if blocks is None else blocks
        self.process.play.ask("place", self.process.number, self.number, first, count, location)
        return self

    def advise(
        self, preferred: int = NOWHERE, accessed_by: int = 0, first: int = 0, blocks: int = 0
    ) -> None:
        """Give advice; accessed_by has a bit for each GPU."""
        begin, count = self.first + first, blocks or self.blocks
        self.process.play.ask("advise", self.process.number, begin, count, preferred, accessed_by)

    def free(self) -> None:
        """Free it."""
        self.process.play.ask("destroy", self.process.number, self.number)


def _references(parts: Iterable[Part]) -> list[int]:
    words: list[int] = []
    for part in parts:
        whole, first, blocks = part if isinstance(part, tuple) else (part, 0, part.blocks)
        words += [whole.number, whole.first + first, blocks, blocks * BLOCK]
    return words


@dataclass
class Queue:
    """A stream of a program. Submitting returns a ticket, or None when the queue is full."""

    process: Process
    number: int
    _name: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._name = (self.process.number, self.number)

    def _ask(self, verb: str, *words: object) -> Any:
        return self.process.play.ask(verb, *self._name, *words)

    def work(self, engine: int, amount: int, flags: int = 0, parts: Sequence[Part] = ()) -> Any:
        """Submit work."""
        return self._ask("work", engine, amount, flags, *_references(parts))

    def kernel(self, ns: int, flags: int = 0) -> Any:
        """Submit a kernel that touches no managed memory."""
        return self.work(COMPUTE, ns, flags)

    def spin(self) -> Any:
        """Submit a kernel that is on the engine until `host_done`."""
        return self.work(COMPUTE, UNTIL_TOLD_NS, FIXED_COST | UNTIL_TOLD)

    def touch(self, *parts: Part, flags: int = 0) -> Any:
        """Submit a kernel that uses managed memory and does nothing else."""
        return self.work(COMPUTE, 0, flags, parts)

    def copy_in(self, size: int) -> Any:
        """Submit a copy to the GPU."""
        return self.work(BUS_IN, size)

    def copy_out(self, size: int) -> Any:
        """Submit a copy to the host."""
        return self.work(BUS_OUT, size)

    def prefetch(self, *parts: Part, to: int) -> Any:
        """Submit a prefetch."""
        return self._ask("prefetch", to, *_references(parts))

    def issued(self, ticket: int) -> tuple[bool, int]:
        """Whether the call of a prefetch has returned, and its result."""
        issued, error = self._ask("issued", ticket)
        return issued, error

    def wait(self, other: "Queue", ticket: int) -> Any:
        """Submit a wait for a ticket of another queue of the process."""
        return self._ask("wait", other.number, ticket)

    def marker(self) -> Any:
        """Submit an operation that only notes the time."""
        return self._ask("marker")

    def host(self) -> Any:
        """Submit a host function."""
        return self._ask("host")

    def host_done(self) -> bool:
        """Report that the host function has run, or that a spinning kernel has seen its value.

        False when its turn has not come.
        """
        return bool(self._ask("hostdone"))

    def has_room(self, references: int = 0) -> bool:
        """Whether one more operation fits in."""
        return bool(self._ask("room", references))

    def soonest(self, ticket: int) -> int:
        """The least time in which a ticket can be reached."""
        return int(self._ask("soonest", ticket))

    def spans(self) -> list[tuple[int, int]]:
        """When operations began and finished, oldest first."""
        return [(began, finished) for began, finished in self._ask("finished")]

    def finished(self) -> list[int]:
        """When operations finished, oldest first."""
        return [finished for _, finished in self.spans()]
