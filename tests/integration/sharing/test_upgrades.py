"""Programs with a library of an earlier day, under the daemon of today, and the other way round."""

import json
import subprocess
from collections.abc import Callable

import pytest

from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.wire.frames import HEADER
from tools.record_frames import FOLDER

from ..building import ROOT
from .conftest import Sharing

GIB = 1 << 30
# The earliest that there is: its frames are the shortest.
RECORDED = json.loads((FOLDER / "2026-11-16.json").read_text(encoding="utf-8"))
SIZES = {
    HEADER.unpack_from(data)[2]: HEADER.unpack_from(data)[3]
    for data in (bytes.fromhex(frame["bytes"]) for frame in RECORDED.values())
}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What makes the library of a program talk as it did then."""
    path = tmp_path_factory.mktemp("earlier") / "earlier.so"
    source, common = ROOT / "native/tests/earlier_client.c", ROOT / "native/common"
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, f"-I{common}", source, "-o", path, "-ldl"], check=True, timeout=60)
    sizes = ",".join(f"{number}:{size}" for number, size in SIZES.items())
    return {"LD_PRELOAD": str(path), "EARLIER_SIZES": sizes}


def test_an_earlier_library_is_managed_beside_one_of_today_and_across_an_upgrade(
    share: Callable[..., Sharing], earlier: dict[str, str]
) -> None:
    settings = {"NVSHARE_MODE": "serial", "NVSHARE_TURN": "0.2"}
    sharing = share("1xt4", speed=20, data="off", settings=settings)
    old = sharing.guest(Wishes(memory_limit=12 * GIB), **earlier)
    new = sharing.guest()
    for guest in (old, new):
        assert guest.ask(f"gpu.init() or gpu.alloc({9 * GIB})[0] or gpu.launch(10)") == 0
        guest.ask("gpu.start('[gpu.launch(10, slow=True) for _ in iter(int, 1)]')")

    def shares(turns: int) -> None:
        def is_so(now: NodeStatus) -> bool:
            here = [one for one in now.clients if one.turns >= turns]
            return [one.allocated for one in here] == [9 * GIB, 9 * GIB]

        sharing.until_status(is_so, 60)

    shares(turns=2)
    limited = {one.limits.memory_limit for one in sharing.daemon().status().clients}
    assert limited == {12 * GIB, None}
    # The daemon is replaced while they run: both are taken back, with all that they have.
    sharing.kill_daemon()
    sharing.start_daemon_again()
    shares(turns=2)
