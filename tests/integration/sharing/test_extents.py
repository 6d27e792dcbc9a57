"""Host memory that the daemon creates for explicit memory: its charges, and how long it is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus

from ..cgroups import cgroup, other_cgroup, set_limit, usage
from ..interposer.conftest import GUEST_COMMAND, Guest
from .conftest import Sharing

__all__ = ["cgroup", "other_cgroup"]

Share = Callable[..., Sharing]
MIB = 1 << 20
EXTENT = 64 * MIB
EXPLICIT = Wishes(allocation="explicit")
ENTER = ("sh", "-c", 'echo $$ > "$0"; exec "$@"')
# Of a GPU with 248 MiB, one of these fits.
SIZE = 180 * MIB
# Less than one of them has to move out, and enough for the program itself.
SMALL = 96 * MIB


class Program:
    """A guest with memory."""

    def __init__(self, sharing: Sharing, *before: str | Path) -> None:
        command = (*before, *GUEST_COMMAND)
        self._sharing = sharing
        self.guest = Guest(sharing.start(*command, wishes=EXPLICIT))
        assert self.guest.ask("gpu.init()") == 0
        self.pointers: list[int] = []

    def allocate(self, size: int) -> None:
        code, pointer = self.guest.ask(f"gpu.alloc({size})")
        assert code == 0
        self.pointers.append(int(pointer))

    def use(self) -> None:
        """Use all of it, for which it needs a turn."""
        for pointer in self.pointers:
            assert self.guest.ask(f"gpu.touch({pointer})") == 0
        assert self.guest.ask("gpu.sync()") == 0

    def free(self) -> None:
        assert self.guest.ask(f"gpu.free({self.pointers.pop()})") == 0

    @property
    def status(self) -> ClientStatus:
        clients = self._sharing.daemon().status().clients
        return next(one for one in clients if one.pid == self.guest.process.pid)


def make(share: Share, **settings: str) -> Sharing:
    sharing = share("tiny", speed=20, data="off", settings=settings)
    sharing.daemon().change_devices("all", {"lab": {"context": "8Mi"}, "reserve": "8Mi"})
    return sharing


def take_turns(*programs: Program, times: int) -> None:
    for _ in range(times):
        for program in programs:
            program.use()


def test_the_daemon_pays_for_what_a_program_with_little_memory_moves_out(
    share: Share, cgroup: Path, other_cgroup: Path
) -> None:
    sharing = make(share, NVSHARE_EMULATOR_REAL_HOST="1")
    set_limit(cgroup, SMALL)
    (other_cgroup / "cgroup.procs").write_text(str(sharing.daemon().status().pid))
    small = Program(sharing, *ENTER, cgroup / "cgroup.procs")
    small.allocate(SIZE)
    before, of_daemon = usage(cgroup), usage(other_cgroup)
    other = Program(sharing)
    other.allocate(SIZE)
    take_turns(small, other, times=3)
    status = small.status
    assert status.moved_out > SMALL
    assert status.kept > SMALL
    assert status.stuck == 0
    # Page tables and lists are its own.
    assert usage(cgroup) < before + 8 * MIB
    # The other one's is there as well.
    assert usage(other_cgroup) - of_daemon > 2 * SMALL
    assert [one.guest.end() for one in (small, other)] == ["", ""]


def test_programs_hold_their_host_memory_when_the_daemon_dies(share: Share) -> None:
    sharing = make(share)
    one, other = Program(sharing), Program(sharing)
    for program in (one, other):
        program.allocate(SIZE)
    take_turns(one, other, times=2)
    kept = [program.status.kept for program in (one, other)]
    assert min(kept) > SMALL
    sharing.kill_daemon()
    sharing.start_daemon()
    sharing.until_status(lambda status: len(status.clients) == 2)
    take_turns(one, other, times=1)
    # Nothing was made anew, and the new daemon counts the existing memory.
    assert [program.status.kept for program in (one, other)] == kept
    assert sharing.daemon().status().host.kept == sum(kept)


def test_a_daemon_that_is_killed_in_the_middle_of_turns_harms_nobody(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", {"turn_seconds": 0.1})
    # More than they compute before the daemon is killed, on a busy machine as well.
    command = workload_command("pytorch-add", "--iterations", "1800")
    programs = [sharing.start(*command, wishes=EXPLICIT) for _ in range(2)]
    # Without a daemon no room is made for new allocations.
    sharing.until_status(lambda now: [one.allocated >> 30 for one in now.clients] == [11, 11])
    sharing.until_status(lambda status: sum(client.turns for client in status.clients) >= 4)
    sharing.kill_daemon()
    sharing.start_daemon()
    sharing.daemon().change_devices("all", {"turn_seconds": 0.1})
    said = [program.communicate(timeout=60) for program in programs]
    assert [program.returncode for program in programs] == [0, 0], said


def test_what_a_program_frees_is_given_back(share: Share) -> None:
    sharing = make(share)
    one, other = Program(sharing), Program(sharing)
    for _ in range(3):
        one.allocate(SIZE // 3)
    other.allocate(SIZE)
    take_turns(one, other, times=2)
    before = one.status.kept
    assert before > SMALL
    one.free()
    one.free()
    sharing.until_status(lambda _: one.status.kept <= SIZE // 3 + EXTENT)
    take_turns(one, other, times=1)
    one.free()
    sharing.until_status(lambda _: one.status.kept == 0)


def test_more_than_the_daemon_may_make_stays_on_the_gpu(share: Share) -> None:
    sharing = make(share)
    sharing.daemon().change_node({"host_memory": "1Mi"})
    one, other = Program(sharing), Program(sharing)
    one.allocate(SIZE)
    one.use()
    other.guest.put(f"gpu.alloc({SIZE})")
    sharing.until_status(lambda _: one.status.stuck > 0)
    assert "host_memory allows 0.0 GiB" in one.status.stuck_because
    one.free()
    code, _ = other.guest.answer()
    assert code == 0
    for program in (one, other):
        program.guest.end()


@pytest.mark.parametrize("memory", ["plain", "handles"])
def test_no_page_is_touched_where_nothing_holds_data(share: Share, memory: str) -> None:
    sharing = share("t4", speed=20, data="off")
    sharing.daemon().change_devices("all", {"turn_seconds": 0.2})
    options = ("--iterations", "3000", "--allocate", memory)
    programs = [
        sharing.start(*workload_command("pytorch-add", *options), wishes=EXPLICIT) for _ in range(2)
    ]
    sharing.until_status(lambda status: status.host.kept > 16 << 30)
    for program in programs:
        assert resident(program.pid) < 256 * MIB
    assert resident(sharing.daemon().status().pid) < 256 * MIB


def resident(pid: int) -> int:
    words = Path(f"/proc/{pid}/statm").read_text().split()
    return int(words[1]) * 4096
