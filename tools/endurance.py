"""How a daemon behaves over a long time and with many clients: figures for docs/security.md.

    python -m tools.endurance short --minutes 30     # 500 short-lived clients a minute
    python -m tools.endurance short --minutes 5 --per-minute 3000   # as many clients, sooner
    python -m tools.endurance crowd --clients 1000   # idle ones, those that report, and hand-overs

It runs from the source tree, on an emulated node, and exits with 1 if a bar is missed. Other load
on the machine changes the times: run nothing else on it.
"""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.wire import frames
from tests.integration.daemon.client import Client
from tests.integration.daemon.conftest import Daemon

# The bars.
MOST_GROWTH = 0.02
MOST_IDLE, MOST_REPORTING = 0.02, 0.08
MOST_HANDOVER = 0.005
# How often programs report.
REPORTS_PER_SECOND = 4
# How many clients of a crowd share one process here.
PER_PROCESS = 50
# After this many short-lived clients, all records of bounded size are full: mostly the journal, of
# two pages of 4,096 events each, of which such a client makes six.
WARM = 2500
# So many are there at once at the beginning. Later it happens by chance, when the machine is late.
AT_ONCE = 64
# More clients per minute would need more of the daemon's time than one user may take.
MANY_PER_MINUTE = 1000


@contextmanager
def running_daemon(settings: str = "") -> Iterator[Daemon]:
    """A daemon of two emulated GPUs, which lets one program run at a time."""
    with (
        transient_node(node_root(), Settings(), parse_gpus("2xt4")) as node,
        tempfile.TemporaryDirectory(prefix="nvshare-") as folder,
    ):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
        environ = {**inherited, **node.environment(library_folder(), inherited)}
        config = Path(folder) / "config.toml"
        config.write_text(settings)
        options = (f"--config={config}", "--mode=serial", "--turn=3600")
        daemon = Daemon(Path(folder) / "d", {**environ, "NVSHARE_LOG": "warn"}, options)
        daemon.start()
        try:
            yield daemon
        finally:
            daemon.stop()


def kilobytes(daemon: Daemon) -> int:
    """Return the memory that the daemon has."""
    text = Path(f"/proc/{daemon.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+) kB", text)[0])


def descriptors(daemon: Daemon) -> int:
    """Return how many descriptors the daemon has open."""
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def cpu(daemon: Daemon) -> float:
    """Return the seconds of a core that the daemon has used."""
    words = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def granted(client: Client) -> int:
    """Wait for a turn; return its number."""
    while not isinstance(frame := client.receive(), frames.Grant):
        if frame is None:
            raise ConnectionError("the daemon has closed the connection")
        while client.descriptors:
            os.close(client.take_descriptor())
    return frame.turn


def live_shortly(folder: Path, gpu: str) -> None:
    """Act as a program that starts, computes a little, and ends."""
    with Client(folder) as client:
        client.sock.settimeout(60)
        client.join(gpu)
        client.send(frames.Memory(1 << 30, 0, 0, 0))
        client.want()
        turn = granted(client)
        client.send(frames.Usage(1_000_000, 10, 0, 1_000_000))
        client.release(turn, allocated=1 << 30)


def forked(work: Callable[[], None]) -> int:
    """Run a function in a process of its own; return its pid."""
    if pid := os.fork():
        return pid
    try:
        work()
    except Exception as error:  # noqa: BLE001  (whatever it is, this process ends here)
        print(f"a client failed: {error!r}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def run_short(minutes: float, per_minute: int) -> bool:
    """Let clients come and go; return whether the daemon stays as it was after the first few."""
    total = round(minutes * per_minute)
    if total < 2 * WARM:
        sys.exit(f"{total} clients are too few: memory is compared from the {WARM}th on")
    settings = "[peers]\ntenant_percent = 100\n" if per_minute > MANY_PER_MINUTE else ""
    with running_daemon(settings) as daemon:
        gpus = daemon.gpus
        end_crowd(start_crowd(daemon.folder, gpus[0], AT_ONCE, reports=False))
        begin, failed, count = time.monotonic(), 0, 0
        kept = kilobytes(daemon), descriptors(daemon)
        alive: set[int] = set()
        while count < total:
            gpu = gpus[count % len(gpus)]
            alive.add(forked(lambda gpu=gpu: live_shortly(daemon.folder, gpu)))  # type: ignore[misc]
            count += 1
            time.sleep(max(0.0, begin + count * 60 / per_minute - time.monotonic()))
            failed += reap(alive, wait=False)
            if count == WARM:
                kept = kilobytes(daemon), descriptors(daemon)
            if count % per_minute == 0:
                print(f"{count} clients: {kilobytes(daemon)} kB, {descriptors(daemon)} descriptors")
        failed += reap(alive, wait=True)
        time.sleep(1.0)
        now = kilobytes(daemon), descriptors(daemon)
        used = cpu(daemon) / (time.monotonic() - begin)
        left = len(daemon.control.status().clients)
        print(
            f"{total} clients in {time.monotonic() - begin:.0f} s, {failed} failed, {left} left: "
            f"{kept[0]} to {now[0]} kB ({now[0] / kept[0] - 1:+.1%}), {kept[1]} to {now[1]} "
            f"descriptors, {used:.1%} of a core"
        )
        is_flat = now[0] <= kept[0] * (1 + MOST_GROWTH) and now[1] <= kept[1]
        return is_flat and not failed and not left


def reap(alive: set[int], *, wait: bool) -> int:
    """Collect processes that have ended; return how many have failed."""
    failed = 0
    for pid in list(alive):
        done, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
        if done:
            alive.discard(pid)
            failed += status != 0
    return failed


def be_a_crowd(folder: Path, gpu: str, count: int, *, reports: bool, ready: int) -> None:
    """Act as this many clients, which read messages, and may report as often as programs do."""
    clients = []
    for _ in range(count):
        client = Client(folder)
        client.sock.settimeout(60)
        client.join(gpu)
        client.sock.setblocking(False)
        clients.append(client)
    os.write(ready, b"x")
    step = 1.0 / (REPORTS_PER_SECOND * count)
    due, number = time.monotonic(), 0
    while True:
        if not reports:
            time.sleep(1.0)
            continue
        number, due = number + 1, due + step
        time.sleep(max(0.0, due - time.monotonic()))
        client, busy = clients[number % count], number // count * 200_000_000
        for frame in client.take():
            if isinstance(frame, frames.Settings) and frame.usage_ms:
                step = frame.usage_ms / 1000 / count
        client.send(frames.Usage(busy, number, 0, busy))


def start_crowd(folder: Path, gpu: str, count: int, *, reports: bool) -> list[int]:
    """Start processes of a few clients each, and wait until all are ready; return their pids."""
    came, ready = os.pipe()
    sizes = [min(PER_PROCESS, count - first) for first in range(0, count, PER_PROCESS)]
    pids = []
    for size in sizes:
        work = partial(be_a_crowd, folder, gpu, size, reports=reports, ready=ready)
        pids.append(forked(work))
    for _ in sizes:
        os.read(came, 1)
    os.close(came)
    os.close(ready)
    return pids


def end_crowd(pids: list[int]) -> None:
    """Kill the processes of a crowd."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def hand_over(daemon: Daemon, gpu: str, seconds: float) -> list[float]:
    """Have two clients hand a turn over; return how long each hand-over took."""
    pair = [Client(daemon.folder) for _ in range(2)]
    for client in pair:
        client.sock.settimeout(60)
        client.join(gpu)
        client.want()
    taken = []
    end, begin = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        for client in pair:
            turn = granted(client)
            if begin:
                taken.append(time.monotonic() - begin)
            time.sleep(0.01)
            begin = time.monotonic()
            client.release(turn, wants=1)
    for client in pair:
        client.close()
    return sorted(taken)


def run_crowd(count: int, seconds: float) -> bool:
    """Measure the cost of an idle crowd and of one that reports, and hand-overs beside them."""
    is_good = True
    for name, reports, most in (("idle", False, MOST_IDLE), ("reporting", True, MOST_REPORTING)):
        with running_daemon() as daemon:
            crowd_gpu, own_gpu = daemon.gpus
            crowd = start_crowd(daemon.folder, crowd_gpu, count, reports=reports)
            time.sleep(3.0)
            before, begin = cpu(daemon), time.monotonic()
            time.sleep(seconds)
            used = (cpu(daemon) - before) / (time.monotonic() - begin)
            taken = hand_over(daemon, own_gpu, seconds)
            late = taken[len(taken) * 99 // 100]
            end_crowd(crowd)
            alone = hand_over(daemon, own_gpu, seconds / 2)
            usual = alone[len(alone) * 99 // 100]
            print(
                f"{count} {name} clients: {used:.1%} of a core (at most {most:.0%}); hand-overs "
                f"{taken[len(taken) // 2] * 1000:.1f} ms, p99 {late * 1000:.1f} ms (without them "
                f"{usual * 1000:.1f} ms); {kilobytes(daemon)} kB"
            )
            is_good &= used <= most and late <= MOST_HANDOVER
    return is_good


def main() -> int:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(prog="python -m tools.endurance", description=__doc__)
    parser.add_argument("what", choices=["short", "crowd"])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--per-minute", type=int, default=500)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    if given.what == "short":
        return 0 if run_short(given.minutes, given.per_minute) else 1
    return 0 if run_crowd(given.clients, given.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
