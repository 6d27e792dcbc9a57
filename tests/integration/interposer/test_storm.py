"""A million allocations, frees and destroyed contexts, eight threads: the records stay exact."""

import os
import subprocess
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

from ..building import build_on_driver
from .conftest import LIBRARY

STEPS = 1_000_000


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_on_driver("allocation_storm", tmp_path_factory.mktemp("storm"))


@pytest.mark.parametrize("kind", ["managed", "native"])
def test_the_books_equal_the_truth(storm: Path, kind: str) -> None:
    settings = Settings(speed=1_000_000.0)
    with transient_node(node_root(), settings, parse_gpus("tiny")) as node:
        process = subprocess.Popen(
            [storm, "8", str(STEPS)],
            env={
                **os.environ,
                **node.environment(library_folder(), os.environ),
                "LD_PRELOAD": str(LIBRARY),
                "NVSHARE_ALLOCATION": kind,
                "NVSHARE_EMULATOR_MODEL": "off",
                "NVSHARE_SOCKET_DIR": str(node.folder),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        last = process.stdout.readline()
        counts = dict(word.split("=") for word in last.split() if "=" in word)
        assert counts["differences"] == "0", last
        assert counts["at_end"] == "0"
        assert min(int(value) for name, value in counts.items() if "=" not in name) >= 0
        assert sum(int(counts[name]) for name in ("plain", "pool", "physical")) > STEPS / 10
        assert int(counts["contexts"]) > STEPS / 10_000
        # The driver agrees: nothing is left but contexts, and the memory that pools keep.
        account = next(iter(read_report(node.folder).processes)).gpus[0]
        assert account.resident_bytes == 0
        assert account.plain_bytes <= 64 << 20
        process.communicate("\n", timeout=10)
        assert process.returncode == 0
