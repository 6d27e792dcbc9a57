"""The emulated driver under AddressSanitizer and UndefinedBehaviorSanitizer, hammered by many."""

import os
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.report import read_report

from ..building import build_native
from ..hammering import build_hammer

KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
SANITIZE = "-fsanitize=address,undefined"
PROCESSES = 16
THREADS = 2
ROUNDS = 60


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the emulated driver with the sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    # Optimised as much as the sanitizers' authors advise: with -O2 the build takes twice as long.
    options = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -g1")
    build_native(folder, "-DNVSHARE_SANITIZE=ON", *options, targets=["cuda"])
    return folder / "lab" / "emulator"


@pytest.mark.timeout(300)
def test_many_processes_hammering_all_calls_are_clean(
    make_node: Callable[..., Node], sanitized: Path, tmp_path: Path
) -> None:
    program = build_hammer(tmp_path, sanitized, SANITIZE)
    node = make_node("2xtiny", speed=1000)
    environment = {**os.environ, **node.environment(sanitized, {})}
    # The program uses the driver only, and the sanitizers want to be its first library.
    del environment["LD_PRELOAD"]
    # Memory that the driver keeps for the life of the process is no leak; it ends with the process.
    environment["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=99"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=98"
    started = [
        subprocess.Popen(
            [program, str(THREADS), str(ROUNDS), str(seed), KERNELS],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(PROCESSES)
    ]
    ended = [(process.communicate(timeout=240), process.returncode) for process in started]
    assert ended == [(("ok\n", ""), 0)] * PROCESSES
    report = read_report(node.folder)
    assert report.difference is None
    assert report.processes == ()
