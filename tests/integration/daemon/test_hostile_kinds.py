"""Hostile clients of many kinds, each beside two honest ones, which get their turns all the time.

Hostile clients leave nothing behind, and the daemon logs no errors of its own. All share one
daemon, so that each would also meet leftovers of those before it.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

from .conftest import Daemon
from .hostile_kinds import KINDS, SECONDS, Honest, Trouble

# The daemon waits for a holder no longer than this; usually it is a minute.
CONFIG = """
[gpu]
mode = "serial"
turn_seconds = 0.05
revoke_patience = 0.3
wait_notice = 0
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all kinds."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "config.toml").write_text(CONFIG)
    with transient_node(node_root(), Settings(), parse_gpus("t4")) as node:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
        environ = {**inherited, **node.environment(library_folder(), inherited)}
        daemon = Daemon(folder / "d", environ, (f"--config={folder / 'config.toml'}",))
        daemon.start()
        yield daemon
        daemon.stop()


def descriptors_of(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def eventually(is_so: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within a time that is long enough on any machine."""
    end = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    return is_so()


@pytest.fixture
def honest(shared: Daemon) -> Iterator[list[Honest]]:
    """Two honest clients."""
    pair = [Honest(shared.folder) for _ in range(2)]
    for one in pair:
        one.begin(shared.gpus[0])
    yield pair
    for one in pair:
        one.close()
    assert eventually(lambda: not shared.control.status().clients)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_honest_programs_go_on(
    shared: Daemon, honest: list[Honest], kind: Callable[[Trouble], None]
) -> None:
    gpu, before = shared.gpus[0], descriptors_of(shared)
    for one in (*honest, *honest):
        one.pass_on()
    with Trouble(shared, gpu, [*honest]) as trouble:
        kind(trouble)
        for _ in range(5):
            for one in honest:
                one.pass_on()
    for one in (*honest, *honest):
        one.pass_on()
    assert eventually(lambda: len(shared.control.status().clients) == len(honest))
    assert eventually(lambda: descriptors_of(shared) <= before + 1)
    mistakes = (" error ", "Traceback")
    assert [line for line in shared.log.splitlines() if any(one in line for one in mistakes)] == []
