"""Watches the programs of pods from beside the daemon, where a question takes a millisecond.

Through kubectl it can take longer than the state in question lasts, or than the program lives.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .lab import NAMESPACE, Lab

_SCRIPT = """
import sys, time
from nvshare.cli.control import Daemon
seconds, condition, *missing = sys.argv[1:]
daemon, end = Daemon(), time.monotonic() + float(seconds)
print("watching", flush=True)
while missing and time.monotonic() < end:
    for one in daemon.status().clients:
        if one.pod_name in missing and eval(condition, {"one": one}):
            missing.remove(one.pod_name)
            print(one.pod_name, one.device, time.monotonic_ns(), flush=True)
    time.sleep(0.01)
"""


@dataclass(frozen=True)
class Sighting:
    """A program met its condition: on which GPU, and when.

    The nanoseconds are those of CLOCK_MONOTONIC, which all processes of a machine share.
    """

    device: str
    when: int


@contextmanager
def watching(
    lab: Lab, condition: str, *pods: str, seconds: float = 240.0
) -> Iterator[dict[str, Sighting]]:
    """Note when the program of each pod first meets a condition: Python, about a client ``one``.

    The results are known at the end. Pods may come, and programs end, in between.
    """
    names = [f"{NAMESPACE}/{pod}" for pod in pods]
    command = lab.command_in_daemon("python", "-c", _SCRIPT, str(seconds), condition, *names)
    seen: dict[str, Sighting] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "watching\n"
        yield seen
        for line in process.stdout:
            name, device, when = line.split()
            seen[name.removeprefix(f"{NAMESPACE}/")] = Sighting(device, int(when))
    assert seen.keys() == set(pods), f"not every one of them was seen with {condition}"
