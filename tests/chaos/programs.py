"""The programs of a campaign: started, restarted when they end, and judged by how they ended.

A program may end because it has done all its work, because the plan has killed it, or because it
found no memory while a fault explains that. All else is wrong: any other error of a CUDA call, a
changed byte, a crash.
"""

import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from nvshare.lab.emulator.workload import installed_program, workload_command
from nvshare.launch.preload import Wishes, library, program_environment
from nvshare.wire import environment

from .cgroup import make_cgroup
from .excuses import Excuses
from .journal import Journal
from .plan import Role
from .processes import ending_with_us
from .verdict import Verdict, judge, own_words

_KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
_MIB = 1 << 20
# Of each process of a gang, on each GPU.
_RANK_BYTES = 72 * _MIB
# A program that was refused memory is not restarted at once: it would be refused again.
_PAUSE = 0.5
# Kernels this long, in microseconds of the emulated GPU, leave the processors time for others.
_KERNEL_US = {"keeper": "15000", "fuzzer": "3000", "streamer": "5000"}
# The side of a streamer's four matrices: 200 MiB in all, so that two do not fit. It has work for
# hours.
_SIDE, _ITERATIONS = "3620", "10000000"


class Program:
    """One role: the processes that play it now."""

    def __init__(
        self,
        role: Role,
        built: Path,
        sockets: Path,
        base: Mapping[str, str],
        earlier: Mapping[str, str],
        excuses: Excuses,
        journal: Journal,
    ) -> None:
        self.role = role
        self._built = built
        self._sockets = sockets
        self._base = base
        self._earlier = earlier
        self._excuses = excuses
        self._journal = journal
        self._lock = threading.RLock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._said: list[Path] = []
        self._is_killed = False
        self._times = 0
        self._not_before = 0.0
        # It contains all processes of the program.
        self.cgroup = make_cgroup(str(role.number))
        self.finished = 0
        self.refused = 0
        # Kernels of processes that have ended; and those of the present ones, by pid.
        self._past = 0
        self._done: dict[int, int] = {}

    @property
    def pids(self) -> list[int]:
        """The processes that play it now."""
        with self._lock:
            return [one.pid for one in self._processes if one.returncode is None]

    @property
    def rounds(self) -> int:
        """How many kernels of it were computed, as of the last record."""
        return self._past + sum(self._done.values())

    @property
    def computing(self) -> list[int]:
        """The processes of it that have had a kernel computed."""
        with self._lock:
            return [pid for pid in self.pids if self._done.get(pid)]

    def note_kernels(self, kernels: Mapping[int, int]) -> None:
        """Record how many kernels of each process were computed."""
        with self._lock:
            for pid in self.pids:
                self._done[pid] = max(self._done.get(pid, 0), kernels.get(pid, 0))

    def kill(self, *, only_one: bool = False) -> None:
        """Kill it as the plan says. The rest of a gang is killed soon after, as launchers do."""
        with self._lock:
            self._is_killed = True
            for process in self._processes[-1:] if only_one else self._processes:
                process.kill()

    def send(self, number: signal.Signals, *, only_one: bool = False) -> None:
        """Send a signal to its processes, or to the last of them."""
        with self._lock:
            for pid in self.pids[-1:] if only_one else self.pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def look_after(self, folder: Path) -> None:
        """Start it if it is not running; judge its end if it has ended."""
        with self._lock:
            # All are polled, so that the end of any is noticed.
            codes = [one.poll() for one in self._processes]
            if None in codes:
                self._end_rest_of_gang()
            elif self._processes:
                self._bury()
            elif time.monotonic() >= self._not_before:
                self._start(folder)

    def end(self) -> None:
        """Kill it, and do not start it again."""
        self.kill()
        with self._lock:
            for process in self._processes:
                process.wait()
            if self._processes:
                self._bury()
            self._not_before = float("inf")

    def close(self) -> None:
        """Leave nothing behind."""
        self.end()
        if self.cgroup is not None:
            self.cgroup.remove()

    def _end_rest_of_gang(self) -> None:
        failed = [one for one in self._processes if one.returncode not in (None, 0)]
        if failed:
            for process in self._processes:
                process.kill()

    def _bury(self) -> None:
        codes = [one.returncode for one in self._processes]
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in self._said]
        said = [line for text in texts for line in own_words(text)]
        verdict = judge(
            codes,
            said,
            is_killed=self._is_killed,
            memory_is_short=self._excuses.memory_is_short,
        )
        if verdict in (Verdict.REFUSED, Verdict.WRONG):
            tell = self._journal.fail if verdict is Verdict.WRONG else self._journal.say
            words = "; ".join(said[:5]) or "nothing"
            tell(f"program {self.role} {verdict.value}: exit codes {codes}, output: {words}")
        self.refused += verdict is Verdict.REFUSED
        if not self._journal.failures:
            for path in self._said:
                path.unlink()
        self.finished += verdict is Verdict.FINISHED
        self._past += sum(self._done.values()) + (not any(codes))
        self._done, self._processes, self._said = {}, [], []
        self._not_before = time.monotonic() + _PAUSE

    def _start(self, folder: Path) -> None:
        self._times += 1
        self._is_killed = False
        group = secrets.token_hex(16)
        for rank, command in enumerate(self._commands()):
            said = folder / f"program-{self.role.number}-{self._times}-{rank}.txt"
            with said.open("wb") as file:
                process = subprocess.Popen(
                    [*ending_with_us(), *command],
                    env=self._environment(rank, group),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=file,
                    cwd="/",
                )
            if self.cgroup is not None:
                self.cgroup.take(process.pid)
            self._processes.append(process)
            self._said.append(said)

    def _environment(self, rank: int, group: str) -> dict[str, str]:
        role = self.role
        gpus = {"threads": "0,1", "ranks": str((role.gpu + rank) % 2)}.get(
            role.program, str(role.gpu)
        )
        base = {**self._base, environment.GROUP: group}
        if role.program in _KERNEL_US:
            base[environment.EMULATOR_KERNEL_US] = _KERNEL_US[role.program]
        if role.is_earlier:
            base.update(self._earlier)
        if role.refused:
            base[environment.EMULATOR_FAIL] = role.refused
        wishes = Wishes(gpus=gpus, allocation=role.allocation)
        return {**base, **program_environment(wishes, self._sockets, library(), base)}

    def _commands(self) -> Sequence[Sequence[str | Path]]:
        seed = str(1000 * self.role.number + self._times)
        program = self._built / self.role.program
        if self.role.program == "keeper":
            # Every second one runs until it is killed.
            return [(program, "2", "150" if self._times % 2 else "0", seed, _KERNELS)]
        if self.role.program == "fuzzer":
            return [(program, "2", "8", seed, _KERNELS)]
        if self.role.program == "streamer":
            size = ("--side", _SIDE, "--iterations", _ITERATIONS)
            return [workload_command("pytorch-add", *size)]
        ranks = installed_program("workloads", "driver-ranks")
        common = ("--ranks", "2", "--iterations", "80", "--kernel", "0.02", "--sync")
        memory = ("--memory", str(_RANK_BYTES))
        if self.role.program == "threads":
            return [(ranks, *common, *memory, "--threads")]
        meet = self._built / f"meet-{self.role.number}-{self._times}"
        return [(ranks, *common, *memory, "--rank", str(rank), "--meet", meet) for rank in range(2)]
