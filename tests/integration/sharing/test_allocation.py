"""The allocation kind of programs: how it is chosen, the result of auto, and where it is shown."""

import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus

from .conftest import Sharing

Share = Callable[..., Sharing]
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
AUTO = Wishes(allocation="auto")
MIB = 1 << 20
BEGIN = "gpu.init() or gpu.alloc(1 << 20)[0]"


def ending(program: "subprocess.Popen[str]") -> tuple[int, list[str]]:
    """Its exit code, and its messages that are not from nvshare."""
    _, errors = program.communicate(timeout=60)
    return program.returncode, [e for e in errors.splitlines() if not e.startswith("nvshare")]


def only(sharing: Sharing) -> ClientStatus:
    (client,) = sharing.until_status(lambda status: len(status.clients) == 1).clients
    return client


def way(client: ClientStatus) -> tuple[str, str]:
    return client.allocation, client.allocation_because


def test_the_setting_is_for_programs_that_say_nothing(share: Share) -> None:
    sharing = share("tiny")
    sharing.daemon().change_devices("all", {"allocation": "explicit"})
    guest = sharing.guest()
    assert guest.ask(BEGIN) == 0
    assert way(only(sharing)) == ("explicit", "")
    # Of these kinds, NVML sees only explicit memory.
    assert guest.ask("gpu.alloc(64 << 20)[0]") == 0
    # It comes with the turn, if that has not begun when the call returns.
    sharing.until_report(lambda _: sharing.account(guest.process.pid).plain_bytes >= 64 * MIB)


@pytest.mark.parametrize("own", ["managed", "native"])
def test_the_environment_goes_over_the_setting(share: Share, own: str) -> None:
    sharing = share("tiny")
    sharing.daemon().change_devices("all", {"allocation": "explicit"})
    guest = sharing.guest(Wishes(allocation=own))
    assert guest.ask(BEGIN) == 0
    assert way(only(sharing)) == (own, "its environment")


def test_a_change_is_for_the_next_process(share: Share) -> None:
    sharing = share("tiny")
    guest = sharing.guest()
    assert guest.ask(BEGIN) == 0
    assert (only(sharing).allocation, only(sharing).allocation_next) == ("managed", "")
    sharing.daemon().change_devices("all", {"allocation": "auto"})
    assert guest.ask("gpu.alloc(1 << 20)[0]") == 0
    assert (only(sharing).allocation, only(sharing).allocation_next) == ("managed", "auto")
    second = sharing.guest()
    assert second.ask(BEGIN) == 0
    status = sharing.until_status(lambda status: len(status.clients) == 2)
    assert {client.allocation for client in status.clients} == {"managed", "explicit"}


@pytest.mark.parametrize(
    ("gpu", "variables", "found"),
    [
        ("tiny", {}, ("explicit", "auto: the GPU can map memory")),
        ("a10-12q", {}, ("managed", "auto: the GPU cannot map memory")),
        (
            "tiny",
            {"NVSHARE_OVERSUBSCRIBE": "1"},
            ("managed", "auto: it may need more memory than the GPU has"),
        ),
    ],
)
def test_auto(share: Share, gpu: str, variables: dict[str, str], found: tuple[str, str]) -> None:
    sharing = share(gpu, data="off")
    guest = sharing.guest(AUTO, **variables)
    assert guest.ask(BEGIN) == 0
    assert way(only(sharing)) == found


def test_auto_on_several_gpus(share: Share) -> None:
    sharing = share("2xtiny")
    guest = sharing.guest(AUTO)
    assert guest.ask(BEGIN) == 0
    assert guest.ask("gpu.init(1) or gpu.alloc(1 << 20)[0]") == 0

    def both(status: Any) -> bool:
        return [way(client) for client in status.clients] == [
            ("managed", "it uses several GPUs"),
            ("managed", "auto: it uses several GPUs"),
        ]

    sharing.until_status(both)


def test_without_a_daemon_auto_is_managed_and_stays_so(share: Share) -> None:
    sharing = share("tiny")
    sharing.kill_daemon()
    guest = sharing.guest(AUTO)
    assert guest.ask(BEGIN) == 0
    sharing.start_daemon()
    assert way(only(sharing)) == ("managed", "since before this daemon")


def test_a_program_keeps_its_way_when_the_daemon_is_started_anew(share: Share) -> None:
    sharing = share("tiny")
    sharing.daemon().change_devices("all", {"allocation": "explicit"})
    guest = sharing.guest()
    assert guest.ask(BEGIN) == 0
    assert only(sharing).allocation == "explicit"
    sharing.kill_daemon()
    sharing.start_daemon()
    assert way(only(sharing)) == ("explicit", "since before this daemon")
    assert only(sharing).allocation_next == ""


def test_auto_and_larger_than_the_gpu(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    command = workload_command("pytorch-add", "--iterations", "4", "--side", "33000")
    program = sharing.start(*command, wishes=AUTO, NVSHARE_OVERSUBSCRIBE="1")
    status = sharing.until_status(lambda status: bool(status.clients))
    assert status.clients[0].allocation == "managed"
    assert ending(program) == (0, [])


def test_what_has_no_room_at_once_is_managed_memory(share: Share) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices("all", {"lab": {"context": "8Mi"}, "reserve": "48Mi"})
    guest = sharing.guest(AUTO)
    assert guest.ask("gpu.init() or gpu.alloc(96 << 20)[0]") == 0
    assert only(sharing).allocation == "explicit"
    code, more = guest.ask("gpu.alloc(120 << 20)")
    assert code == 0
    assert guest.ask(f"gpu.upload({more}, 120 << 20)") == 0
    status = sharing.until_status(lambda status: status.clients[0].allocation == "mixed")
    assert status.clients[0].allocation_because == "auto: more than the GPU holds at once"
    # Without nvshare, more than the GPU has would be refused, too.
    assert guest.ask("gpu.alloc(64 << 20)")[0] != 0
    assert "refused: all explicit memory of a program" not in guest.end()


def test_a_mixture_goes_on_when_its_explicit_part_is_back(share: Share) -> None:
    sharing = share("tiny", speed=20)
    settings = {"lab": {"context": "8Mi"}, "reserve": "48Mi", "turn_seconds": 0.1}
    sharing.daemon().change_devices("all", settings)
    mixture, other = sharing.guest(AUTO), sharing.guest()
    assert mixture.ask("gpu.init()") == 0
    _, explicit = mixture.ask("gpu.alloc(96 << 20)")
    # More than the GPU holds beside that: some of it is still out when a turn begins.
    code, managed = mixture.ask("gpu.alloc(150 << 20)")
    assert code == 0
    use = f"gpu.touch({explicit}, {managed}) or gpu.sync()"
    assert mixture.ask(use) == 0
    assert other.ask("gpu.init()") == 0
    _, memory = other.ask("gpu.alloc(150 << 20)")
    for turn in range(3):
        assert other.ask(f"gpu.touch({memory}) or gpu.sync()") == 0
        assert mixture.ask(f"gpu.start('{use}')") == turn
        assert mixture.ask(f"gpu.done({turn}, 20)")
    # The last move is reported a little after the program has gone on.
    status = sharing.until_status(lambda status: status.clients[0].moved_in > 3 * 96 * MIB)
    assert status.clients[0].allocation == "mixed"


def test_mixtures_take_turns_and_keep_their_contents(share: Share, keeper: Path) -> None:
    sharing = share("tiny", speed=20)
    sharing.daemon().change_devices(
        "all",
        {"turn_seconds": 0.01, "lab": {"context": "24Mi"}, "reserve": "48Mi", "allocation": "auto"},
    )
    seen = set()
    programs = [sharing.start(keeper, "4", "120", str(seed), KERNELS) for seed in range(2)]
    while any(program.poll() is None for program in programs):
        seen |= {client.allocation for client in sharing.daemon().status().clients}
    assert [ending(program) for program in programs] == [(0, []), (0, [])]
    assert "mixed" in seen
    assert sharing.daemon().status().devices[0].turn_changes > 0
    assert read_report(sharing.node.folder).difference is None
