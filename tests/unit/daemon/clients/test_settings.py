from collections.abc import Iterator
from contextlib import suppress

import pytest

from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.settings import client_settings
from nvshare.settings import DeviceSettings, LabSettings
from nvshare.wire import frames
from nvshare.wire.codec import daemon_frames

from ..stage import Stage


@pytest.mark.parametrize("grace", [0.0, 0.25, 4294.0, 4295.0, 1e9])
def test_every_setting_fits_into_a_frame(grace: float) -> None:
    sent = client_settings(
        DeviceSettings(lab=LabSettings(idle_grace=grace, inflight=10)), clients=1
    )
    assert frames.Settings.unpack(sent.pack()[frames.HEADER.size :]) == sent
    assert sent.idle_grace_us == min(round(grace * 1e6), 2**32 - 1)


@pytest.mark.parametrize(
    ("clients", "pause"), [(1, 0), (128, 0), (129, 500), (256, 500), (1000, 2000), (4096, 8000)]
)
def test_many_clients_report_less_often_each(clients: int, pause: int) -> None:
    assert client_settings(DeviceSettings(), clients).usage_ms == pause


def test_all_clients_together_report_no_more_often_than_the_daemon_can_afford() -> None:
    for clients in range(1, 4097):
        pause = client_settings(DeviceSettings(), clients).usage_ms or 250
        assert clients * 1000 / pause <= 512


def told(stage: Stage) -> list[int]:
    """How often each client was sent settings since the last time."""
    counts = []
    for client in stage.clients:
        client.setblocking(False)
        came = b""
        with suppress(BlockingIOError):
            # A frame with a descriptor arrives by itself.
            while data := client.recv(4096):
                came += data
        counts.append(sum(isinstance(one, frames.Settings) for one in daemon_frames().feed(came)))
    return counts


def test_clients_are_told_what_is_new_and_those_who_come_all_of_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.join(1)
    assert told(stage) == [1]
    stage.join(1)
    # The first one is not alone any more.
    assert told(stage) == [1, 1]
    looked: list[Client] = []
    of = stage.node.clients.of

    class Watched(list[Client]):
        def __iter__(self) -> Iterator[Client]:
            looked.extend(self[:])
            return super().__iter__()

    with monkeypatch.context() as patch:
        patch.setattr(stage.node.clients, "of", lambda gpu: Watched(of(gpu)))
        stage.join(1)
        assert told(stage) == [0, 0, 1]
        stage.clients.pop().close()
        stage.turn()
    # With a thousand of them, a look at all for each arrival or departure takes a millisecond.
    assert looked == []
    stage.clients.pop().close()
    stage.turn()
    assert told(stage) == [1]
