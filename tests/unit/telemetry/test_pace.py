from nvshare.settings import DeviceSettings
from nvshare.telemetry.pace import AS_THEY_ARE, DURATIONS, at_speed, paced


def test_every_setting_is_known_to_depend_on_time_or_not() -> None:
    assert sorted([*DURATIONS, *AS_THEY_ARE]) == sorted(DeviceSettings.model_fields)


def test_durations_get_shorter() -> None:
    told = at_speed(DeviceSettings(turn_seconds=10, turn_min=30), 20)
    assert (told["turn_seconds"], told["turn_min"]) == (0.5, 1.5)
    assert told["revoke_patience"] == DeviceSettings().revoke_patience


def test_what_is_automatic_stays_so() -> None:
    assert at_speed(DeviceSettings(), 20)["turn_seconds"] == "auto"


def test_settings_that_count_the_seconds_of_a_node() -> None:
    told = DeviceSettings(turn_min=20, idle_park=0)
    assert paced(told, 1) == told
    assert (paced(told, 10).turn_min, paced(told, 10).idle_park) == (2.0, 0.0)
    assert paced(told, 10).mode == told.mode


def test_the_fastest_emulated_gpu_has_settings() -> None:
    assert paced(DeviceSettings(), 1e6).turn_min == DeviceSettings().turn_min / 1e6
