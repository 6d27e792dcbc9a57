"""``nvshare bench telemetry``: what telemetry costs the daemon.

A hundred clients compute and report as programs do, four times a second (crowd.py). Once a second
the daemon is read by Prometheus, by `nvshare top`, by both, or not at all. These cases alternate,
so that other load on the machine affects all of them, and the daemon's processor time counts, not
the time that passes. Telemetry is the cost that reading adds, plus the cost of the record of the
last minute that the daemon updates for every client each second, with readers or without.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median

import click

from nvshare.cli.control import Daemon
from nvshare.cli.lab.bench.crowd import Crowd, crowd
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.stage import open_stage
from nvshare.errors import NvshareError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.settings import DeviceSettings

CLIENTS = 100
_MODEL = "t4"
_ROUNDS = 8
# Reports of a client in a second, and how long a round takes.
_REPORTS = 4
_SECONDS = 1.0
_PATIENCE = 30.0


@registered("telemetry")
def measure_usual() -> Iterator[Line]:
    """Yield the line for a hundred."""
    return measure(CLIENTS)


def measure(clients: int, rounds: int = _ROUNDS) -> Iterator[Line]:
    """Yield one line: percent of a core, for reads once a second."""
    with open_stage(parse_gpus(_MODEL), 1.0, [DeviceSettings()]) as stage:
        daemon = stage.daemon
        if daemon is None:
            raise NvshareError("there is no daemon to measure")
        (gpu,) = daemon.status().devices
        with crowd(daemon.path.parent, gpu.uuid, clients) as everybody:
            _until_all_are_there(daemon, clients)
            yield {"clients": clients, "seconds": rounds, **_costs(daemon, everybody, rounds)}


def _costs(daemon: Daemon, everybody: Crowd, rounds: int) -> Line:
    looks: dict[str, Callable[[], object]] = {
        "nobody": lambda: None,
        "metrics": daemon.metrics,
        "status": daemon.status,
        "both": lambda: (daemon.metrics(), daemon.status()),
    }
    pid = daemon.status().pid
    spent: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name, look in looks.items():
            spent[name].append(_round(pid, everybody, look))
    # The median: a round disturbed by other load on the machine does not decide.
    percent = {name: 100 * median(found) / _SECONDS for name, found in spent.items()}
    return {
        "nobody_percent": round(percent["nobody"], 2),
        **{
            f"{name}_percent": round(percent[name] - percent["nobody"], 2)
            for name in ("metrics", "status", "both")
        },
        "metrics_bytes": len(daemon.metrics()),
    }


def _round(pid: int, everybody: Crowd, look: Callable[[], object]) -> float:
    """Return the seconds of a core that the daemon used in one round, with one look."""
    before, began, interval = _cpu_seconds(pid), time.monotonic(), _SECONDS / _REPORTS
    for number in range(_REPORTS):
        everybody.report(interval)
        # Halfway to the next reports: by then the daemon has read these.
        _sleep_until(began + (number + 0.5) * interval)
        if number == 1:
            look()
        _sleep_until(began + (number + 1) * interval)
    passed = time.monotonic() - began
    return (_cpu_seconds(pid) - before) * _SECONDS / max(passed, _SECONDS)


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _cpu_seconds(pid: int) -> float:
    """Return a process's processor time: the kernel has a clock for each process."""
    return time.clock_gettime((~pid << 3) | 2)


def _until_all_are_there(daemon: Daemon, clients: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while len(daemon.status().clients) < clients:
        if time.monotonic() > deadline:
            raise NvshareError(f"the daemon has not taken {clients} clients in {_PATIENCE:.0f} s")
        time.sleep(0.1)


@click.command()
@click.option("--clients", type=click.IntRange(min=1), default=CLIENTS, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def telemetry(clients: int, as_json: bool) -> None:
    """Measure what status requests cost the daemon, with many clients."""
    show("telemetry", lambda: measure(clients), as_json)
