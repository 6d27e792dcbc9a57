"""Programs with a library of an earlier version under the present daemon, and vice versa."""

from collections.abc import Callable

import pytest

from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import NodeStatus
from tests.earlier import earlier_library

from .conftest import Sharing

GIB = 1 << 30


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables that make a program's library talk like the earlier version."""
    return earlier_library(tmp_path_factory.mktemp("earlier"))


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
    sharing.start_daemon()
    shares(turns=2)


@pytest.mark.parametrize("version", ["earlier", "later"])
def test_programs_are_managed_by_a_daemon_of_another_version_and_by_ours_after_it(
    share: Callable[..., Sharing], earlier: dict[str, str], version: str
) -> None:
    settings = {"NVSHARE_MODE": "serial", "NVSHARE_TURN": "0.2"}
    sharing = share("1xt4", speed=20, data="off", settings=settings)
    guests = [sharing.guest(), sharing.guest(None, **earlier)]
    for guest in guests:
        assert guest.ask(f"gpu.init() or gpu.alloc({9 * GIB})[0] or gpu.launch(10)") == 0
        guest.ask("gpu.start('[gpu.launch(10, slow=True) for _ in iter(int, 1)]')")

    def shares() -> None:
        def is_so(now: NodeStatus) -> bool:
            return [one.allocated for one in now.clients if one.turns >= 2] == [9 * GIB] * 2

        sharing.until_status(is_so, 60)

    shares()
    sharing.kill_daemon()
    with sharing.daemon_of(version) as pid:
        shares()
        assert sharing.daemon().status().pid == pid
    sharing.start_daemon()
    shares()
