"""Life with a daemon, without one, and in between."""

import os
import subprocess

import pytest

from nvshare.wire.frames import (
    Grant,
    Hello,
    HelloFlags,
    Reject,
    RejectCode,
    Released,
    Revoke,
    Standby,
    Urgency,
    Want,
    Welcome,
)

from .conftest import StartGuest
from .scripted import Scripted, hand_over_ends

NOT_READY = 802


def warnings(text: str) -> list[str]:
    return [line for line in text.splitlines() if "warning" in line]


def test_without_a_daemon_there_is_one_warning(absent: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    assert guest.ask("gpu.init() or gpu.launch(1000) or gpu.init(1) or gpu.launch(1000)") == 0
    assert guest.ask("time.sleep(0.5) or gpu.alloc(1000)")[0] == 0
    (warning,) = warnings(guest.end())
    assert "no nvshare daemon manages this program (No such file or directory)" in warning
    assert absent.folder.name == "daemon"


def test_a_daemon_that_comes_later_takes_over(absent: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    assert guest.ask("gpu.init() or gpu.alloc(5000)[0] or gpu.launch(10)") == 0
    absent.listen()
    link = absent.accept()
    hello = link.welcome()
    can = HelloFlags.CAN_MANAGE | HelloFlags.CAN_MAP | HelloFlags.CAN_HOLD
    assert hello.flags == HelloFlags.RESUMING | HelloFlags.UNGRANTED | can
    assert (hello.turn, hello.allocated) == (0, 5000)
    # It runs on, until it is told otherwise.
    assert guest.ask("gpu.launch(10)") == 0
    link.send(Revoke(turn=0, urgency=Urgency.NOW, idle_us=0, evict_bytes=0))
    assert link.next(Released).turn == 0
    guest.ask("gpu.start('gpu.launch()')")
    link.next(Want)
    assert not guest.ask("gpu.done(0, 0.1)")


@pytest.mark.parametrize("holds", [True, False])
def test_the_death_of_the_daemon_stops_nobody(
    scripted: Scripted, start_guest: StartGuest, holds: bool
) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    if holds:
        link.send(Grant(turn=7, fill_bytes=0))
        assert guest.ask("gpu.done(0, 10)")
    scripted.die()
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask("gpu.launch(100)") == 0

    scripted.listen()
    hello = scripted.accept().welcome()
    assert hello.flags & HelloFlags.RESUMING
    assert hello.turn == (7 if holds else 0)
    assert guest.ask("gpu.launch(100)") == 0
    assert len(warnings(guest.end())) == 1


def test_a_standby_of_a_dead_daemon_is_void(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    link.until_taken_in()
    scripted.die()
    assert guest.ask("gpu.done(0, 10)")
    scripted.listen()
    link = scripted.accept()
    assert link.welcome().turn == 0
    os.write(ours, b"1")
    link.send(Revoke(turn=3, urgency=Urgency.NOW, idle_us=0, evict_bytes=0))
    assert link.silent()


def test_a_rejected_program_runs_unmanaged(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.next(Hello)
    link.send(Reject(code=RejectCode.DEVICE, text="no such GPU here"))
    assert guest.ask("gpu.done(0, 10)")
    (warning,) = warnings(guest.end())
    assert "rejected: no such GPU here" in warning


def test_frames_of_another_version(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.next(Hello)
    data = bytearray(Welcome(client_id=1, daemon_version="9").pack())
    data[4] += 1
    link.send_bytes(bytes(data))
    assert guest.ask("gpu.done(0, 10)")
    (warning,) = warnings(guest.end())
    assert "of another version" in warning


@pytest.mark.parametrize(
    "data", [b"x" * 100, bytes(100), b"NVSH\x01\x00\x82\x00\xff\xff\xff\xff" * 9]
)
def test_bytes_that_are_no_frames(scripted: Scripted, start_guest: StartGuest, data: bytes) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send_bytes(data)
    assert guest.ask("gpu.done(0, 10)")
    # And it comes back.
    assert scripted.accept().welcome().flags & HelloFlags.RESUMING


def test_a_daemon_that_says_nothing_is_not_waited_for(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest = start_guest()
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    scripted.accept()
    assert not guest.ask("gpu.done(0, 1)")
    assert guest.ask("gpu.done(0, 10)")


def test_require_makes_absence_an_error(absent: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_REQUIRE="1")
    assert guest.ask("gpu.init()") == NOT_READY
    assert guest.ask("gpu.create()") == NOT_READY
    (warning,) = warnings(guest.end())
    assert "NVSHARE_REQUIRE=1" in warning
    assert absent.folder.name == "daemon"


def test_require_with_a_daemon(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_REQUIRE="1")
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    # Once it has begun, the daemon's death does not stop it.
    scripted.die()
    assert guest.ask("time.sleep(0.2) or gpu.launch(10)") == 0


def test_require_lets_go_when_the_daemon_comes(absent: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_REQUIRE="1")
    assert guest.ask("gpu.init()") == NOT_READY
    absent.listen()
    link = absent.accept()
    link.welcome()
    link.until_taken_in()
    assert guest.ask("gpu.init()") == 0


def test_hello_says_what_the_environment_says(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(
        NVSHARE_GPU_MEMORY_LIMIT="64Mi",
        NVSHARE_GPU_CORE_LIMIT="40",
        NVSHARE_GROUP="00112233445566778899aabbccddeeff",
        NVSHARE_ALLOCATION="native",
    )
    guest.put("gpu.init() or gpu.alloc(1 << 20)[0]")
    hello = scripted.accept().welcome()
    assert guest.answer() == 0
    assert (hello.memory_limit, hello.compute_percent) == (64 << 20, 40)
    assert hello.group.hex() == "00112233445566778899aabbccddeeff"
    assert hello.allocation_kind.name == "NATIVE"
    can = HelloFlags.CAN_MANAGE | HelloFlags.CAN_MAP | HelloFlags.CAN_HOLD
    assert hello.flags == can | HelloFlags.UNDECIDED | HelloFlags.ASKS_NATIVE


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NVSHARE_ALLOCATION", "mixed"),
        ("NVSHARE_REQUIRE", "yes"),
        ("NVSHARE_GROUP", "0123"),
    ],
)
def test_values_that_make_no_sense_are_said_to(
    absent: Scripted, start_guest: StartGuest, variable: str, value: str
) -> None:
    guest = start_guest(**{variable: value})
    assert guest.ask("gpu.init() or gpu.launch()") == 0
    assert any(variable in line and value in line for line in warnings(guest.end()))
    assert absent.folder.name == "daemon"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NVSHARE_GPU_MEMORY_LIMIT", "lots"),
        ("NVSHARE_GPU_MEMORY_LIMIT", "4GB"),
        ("NVSHARE_GPU_MEMORY_LIMIT", "0"),
        ("NVSHARE_GPU_CORE_LIMIT", "101"),
        ("NVSHARE_GPU_CORE_LIMIT", "40%"),
        ("NVSHARE_GPU_PRIORITY", "urgent"),
    ],
)
def test_a_limit_that_makes_no_sense_is_not_taken_for_none(
    absent: Scripted, start_guest: StartGuest, variable: str, value: str
) -> None:
    guest = start_guest(**{variable: value})
    assert guest.ask("gpu.init()") == NOT_READY
    assert guest.ask("gpu.create()") == NOT_READY
    (said,) = warnings(guest.end())
    assert variable in said
    assert f'"{value}"' in said
    assert "unset it" in said
    assert absent.folder.name == "daemon"


def test_disable_leaves_everything_alone(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest(NVSHARE_DISABLE="1", NVSHARE_GPU_MEMORY_LIMIT="1Mi")
    assert guest.ask("gpu.init() or gpu.launch(1000)") == 0
    code, pointer = guest.ask("gpu.alloc(2 << 20)")
    assert code == 0
    assert guest.ask(f"gpu.attribute(8, {pointer})") == [0, 0]
    assert guest.ask("gpu.info()[1]") == guest.ask("gpu.total()") > 1 << 20
    assert guest.ask("len(os.listdir('/proc/self/task'))") > 0
    with pytest.raises(TimeoutError):
        scripted.accept(0.2)
    assert guest.end() == ""


def test_programs_that_never_use_cuda(environment: dict[str, str]) -> None:
    """No thread, no descriptor, no word."""
    # Counted by the shell itself: while it starts a pipeline, it has descriptors of its own.
    script = "ls / | wc -l; set -- /proc/$$/task/*; echo $#; set -- /proc/$$/fd/*; echo $#"
    variables = {**environment, "NVSHARE_GPU_MEMORY_LIMIT": "nonsense"}
    plain = {k: v for k, v in variables.items() if k != "LD_PRELOAD"}
    preloaded, bare = (
        subprocess.run(
            ["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=True
        )
        for env in (variables, plain)
    )
    assert preloaded.stdout == bare.stdout
    assert preloaded.stderr == ""
