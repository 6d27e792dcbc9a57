"""The processes that the cluster is made of, each with a log; the last is ended first."""

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Process:
    """A server. Can be ended and started again."""

    command: list[str]
    log: Path
    running: "subprocess.Popen[bytes] | None" = None
    # How often it is still started again if it ends by itself.
    restarts: int = 0

    def start(self) -> None:
        """Start it."""
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it, and wait until it has."""
        if self.running is None:
            return
        self.running.send_signal(number)
        try:
            self.running.wait(20)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait(20)
        self.running = None

    def check(self) -> None:
        """Raise if it has ended by itself; or start it again, as an init system would."""
        if self.running is None or self.running.poll() is None:
            return
        if self.restarts:
            self.restarts -= 1
            self.start()
        else:
            tail = self.log.read_text(errors="replace")[-3000:]
            raise RuntimeError(f"{self.command[0]} has ended: {tail}")


@dataclass
class Processes:
    """All of them."""

    logs: Path
    by_name: dict[str, Process] = field(default_factory=dict)

    def start(self, name: str, *command: str | Path, restarts: int = 0) -> Process:
        """Start a server, and so many times again if it ends by itself."""
        log = self.logs / f"{name}.log"
        process = Process([str(word) for word in command], log, restarts=restarts)
        self.by_name[name] = process
        process.start()
        return process

    def kill_all(self) -> None:
        """Kill them, the last first. They get no chance to clean up."""
        for process in reversed(self.by_name.values()):
            process.stop(signal.SIGKILL)

    def check(self) -> None:
        """Raise if one has ended by itself."""
        for process in self.by_name.values():
            process.check()


def until(
    is_so: Callable[[], bool],
    what: str,
    *,
    seconds: float = 180.0,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + seconds
    while not is_so():
        check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.1)
