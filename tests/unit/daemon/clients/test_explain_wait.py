"""Why a program waits, in words; and who is told."""

import contextlib
import os
import pwd
from dataclasses import replace

import pytest

from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.explain_wait import why_it_waits
from nvshare.settings import DeviceSettings
from nvshare.wire import frames
from nvshare.wire.codec import daemon_frames

from ..stage import GIB, GPU, Stage


def clients(stage: Stage) -> list[Client]:
    return list(stage.node.clients.all())


def want(stage: Stage, number: int) -> None:
    stage.clients[number].send(frames.Want(0).pack())
    stage.turn()


def why(stage: Stage, number: int) -> str | None:
    node, client = stage.node, clients(stage)[number]
    return why_it_waits(node.executor, node.gpus.settings[GPU.uuid], node.clients, client, 5.0)


@pytest.fixture
def crowd(stage: Stage) -> Stage:
    """One of 10 GiB runs, and another of 9 GiB waits."""
    stage.join(10 * GIB)
    stage.join(9 * GIB)
    want(stage, 0)
    want(stage, 1)
    return stage


def test_who_has_the_gpu_and_why_both_do_not_fit(crowd: Stage) -> None:
    text = why(crowd, 1)
    assert text is not None
    assert text.startswith(
        "has waited 5 s for its turn: train.py (id 1, pid 7) has had the GPU for 0 s, and for "
    )
    assert "s more at most; the 9.3 GiB of this program and 10.3 GiB do not fit in the" in text
    assert text.endswith(" of the GPU together")


def test_memory_that_cannot_leave_is_in_the_way_as_well(stage: Stage) -> None:
    stage.join(2 * GIB, pinned=2 * GIB)
    stage.join(10 * GIB)
    stage.join(4 * GIB)
    want(stage, 2)
    idle = frames.ReleaseReason.IDLE
    released = frames.Released(1, idle, 0, 0, 2 * GIB, 2 * GIB, 0, 0, 0)
    stage.clients[0].send(released.pack())
    stage.turn()
    text = why(stage, 2)
    assert text is not None
    assert "the 4.3 GiB of this program and 10.3 GiB do not fit" in text
    assert text.endswith("together, beside 2.3 GiB that cannot leave the GPU")


def test_one_at_a_time(stage: Stage) -> None:
    stage.node.change_settings(GPU, DeviceSettings(mode="serial"))
    for _ in range(2):
        stage.join(GIB)
    want(stage, 0)
    want(stage, 1)
    assert str(why(stage, 1)).endswith("; mode=serial: one program at a time")


def test_parked_by_hand(crowd: Stage) -> None:
    (group,) = crowd.node.groups.all()
    group.parked = True
    assert why(crowd, 1) == (
        "has waited 5 s for its turn: it is parked by hand; `nvshare unpark 2` lets it go on"
    )


def test_others_are_named_by_user_and_not_across_containers(crowd: Stage) -> None:
    holder = clients(crowd)[0]
    own = holder.identity
    holder.identity = replace(own, uid=os.getuid() + 123456)
    assert f"uid {os.getuid() + 123456}/train.py (id 1, pid 7) has" in str(why(crowd, 1))
    clients(crowd)[1].identity = replace(own, uid=1)
    holder.identity = replace(own, uid=os.getuid())
    user = pwd.getpwuid(os.getuid()).pw_name
    assert f"{user}/train.py" in str(why(crowd, 1))
    holder.identity = replace(own, container="b" * 64)
    text = str(why(crowd, 1))
    assert "a program in another container (id 1) has" in text
    assert "train.py" not in text


def notices(stage: Stage, number: int) -> list[str]:
    """Return all that a client was told so far."""
    decoder = daemon_frames()
    client = stage.clients[number]
    client.setblocking(False)
    found: list[frames.FromDaemon] = []
    # A descriptor on the way ends a read early.
    with contextlib.suppress(BlockingIOError):
        while data := client.recv(1 << 16):
            found += decoder.feed(data)
    return [frame.text for frame in found if isinstance(frame, frames.Notice)]


def soon(stage: Stage) -> None:
    """Let the notice come at once: any wait counts as long."""
    stage.node.change_settings(GPU, DeviceSettings(wait_notice=1e-6, turn_seconds=1000))


def test_it_reaches_the_program_that_waits_and_nobody_else(stage: Stage) -> None:
    soon(stage)
    stage.join(10 * GIB)
    want(stage, 0)
    stage.join(9 * GIB)
    want(stage, 1)
    stage.turn()
    (text,) = notices(stage, 1)
    assert "do not fit" in text
    assert notices(stage, 0) == []


def test_who_is_patient_is_not_told(stage: Stage) -> None:
    soon(stage)
    stage.join(10 * GIB)
    stage.join(9 * GIB, flags=frames.HelloFlags.PATIENT)
    want(stage, 0)
    want(stage, 1)
    stage.turn()
    assert notices(stage, 1) == []
