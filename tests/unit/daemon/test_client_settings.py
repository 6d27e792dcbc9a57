import pytest

from nvshare.daemon.client_settings import client_settings
from nvshare.settings import DeviceSettings
from nvshare.wire import frames


@pytest.mark.parametrize("grace", [0.0, 0.25, 4294.0, 4295.0, 1e9])
def test_every_setting_fits_into_a_frame(grace: float) -> None:
    sent = client_settings(DeviceSettings(idle_grace=grace, inflight=10), clients=1)
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
