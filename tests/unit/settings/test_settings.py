from typing import Any

import pytest
from pydantic import ValidationError

from nvshare.core.settings import Settings
from nvshare.lab.emulator.profile import known_profiles, load_known
from nvshare.settings import ClientLimits, DeviceSettings, LabSettings
from nvshare.settings.table import REMOVED
from nvshare.validation import describe

MIB = 1 << 20


def test_the_defaults_are_those_of_the_core() -> None:
    assert DeviceSettings().for_core() == Settings()


def test_every_constant_can_be_changed_by_itself() -> None:
    """A change of one leaves the others, and those of the core reach it."""
    changed = DeviceSettings().changed({"lab": {"turn_max": 60}}).changed({"lab": {"turn_min": 5}})
    assert changed.lab == LabSettings(turn_min=5, turn_max=60)
    assert changed.for_core() == Settings(turn_min=5, turn_max=60)


@pytest.mark.parametrize("name", list(REMOVED))
def test_a_setting_that_was_removed_is_refused_with_what_to_do_instead(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        DeviceSettings.model_validate({name: 1})
    assert describe(caught.value) == [f"{name} is not a setting any more: {REMOVED[name]}"]


def test_what_is_called_off_or_automatic_is_nothing_to_the_core() -> None:
    off = DeviceSettings.model_validate({"turn_seconds": "auto", "idle_park": "off"}).for_core()
    assert (off.turn_seconds, off.idle_park) == (None, None)
    assert DeviceSettings(turn_seconds=5, idle_park=7).for_core().idle_park == 7


def test_what_counts_the_seconds_of_a_node_is_shorter_on_a_faster_one() -> None:
    told = DeviceSettings(turn_seconds=10, idle_park=60, wait_notice=4, mode="serial")
    fast = told.at_speed(20)
    assert (fast.turn_seconds, fast.idle_park, fast.mode) == (0.5, 3.0, "serial")
    assert (fast.lab.turn_min, fast.lab.inflight, fast.lab.context) == (1.5, 0.001, "auto")
    assert (fast.revoke_patience, fast.wait_notice) == (told.revoke_patience, 4.0)
    assert told.at_speed(1) == told


def test_what_is_automatic_is_so_at_the_highest_speed() -> None:
    fast = DeviceSettings().at_speed(1e6)
    assert (fast.turn_seconds, fast.idle_park, fast.lab.turn_min) == ("auto", 0.0, 30 / 1e6)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("turn_seconds", "30", 30.0),
        ("turn_seconds", "auto", "auto"),
        ("reserve", "512Mi", 512 << 20),
        ("reserve", "auto", "auto"),
        ("revoke_patience", "0.1", 0.1),
        ("idle_park", "600", 600.0),
        ("idle_park", "off", 0.0),
        ("mode", "serial", "serial"),
    ],
)
def test_text_is_understood(name: str, text: str, value: Any) -> None:
    assert getattr(DeviceSettings().changed({name: text}), name) == value


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"mode": "sideways"}, "mode: must be 'auto'"),
        ({"turn_seconds": 0}, "turn_seconds: "),
        ({"turn_seconds": "soon"}, 'turn_seconds: "soon" is not a number'),
        ({"lab": {"turn_max": 1}}, "lab: turn_max must not be less than turn_min"),
        ({"reserve": "4GB"}, 'reserve: "4GB" is not an amount of memory'),
        ({"reserve": -1}, "reserve: "),
        ({"policy": "none"}, "policy: must be one of batch, fair, fifo"),
        ({"lab": {"inflight": 100}}, "lab.inflight: "),
        ({"idle_park": -1}, "idle_park: "),
        ({"idle_park": "never"}, 'idle_park: "never" is not a number'),
        ({"turn_seconds": float("nan")}, "turn_seconds: "),
        # Bytes that are no text.
        ({"reserve": "\udcff"}, 'reserve: "?" is not an amount of memory'),
        ({"turn_seconds": "\ud800"}, 'turn_seconds: "?" is not a number'),
        # Larger than any sensible value, and too small to compute moves with.
        ({"revoke_patience": 1.5e307}, "revoke_patience: must be less than or equal to 1000000000"),
        ({"turn_seconds": 1e10}, "turn_seconds: must be less than or equal to 1000000000"),
        ({"wait_notice": 1e10}, "wait_notice: must be less than or equal to 1000000000"),
        ({"lab": 1}, "lab: "),
        ({"lab": {"colour": "red"}}, "lab.colour: there is no such field"),
        ({"interactive": "soon"}, "interactive: "),
        ({"colour": "red"}, "colour: there is no such field"),
    ],
)
def test_nonsense_names_the_field(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError) as caught:
        DeviceSettings().changed(changes)
    assert any(line.startswith(complaint) for line in describe(caught.value))


def test_a_part_of_a_gpu_is_kept_back() -> None:
    assert DeviceSettings().usable_of(16 << 30) == (16 << 30) - (256 << 20)
    assert DeviceSettings(reserve=1 << 30).usable_of(16 << 30) == 15 << 30
    assert DeviceSettings(reserve=17 << 30).usable_of(16 << 30) == 0


@pytest.mark.parametrize("name", known_profiles())
def test_the_guess_at_a_context_is_enough_and_not_much_more(name: str) -> None:
    memory = load_known(name).memory
    context = DeviceSettings().context_of(round(memory.usable_mib * MIB))
    assert memory.context_mib * MIB <= context <= memory.context_mib * MIB * 1.2


def test_a_context_of_known_size_is_taken_as_it_is() -> None:
    assert DeviceSettings(lab=LabSettings(context=0)).context_of(16 << 30) == 0


def test_limits_can_be_set_and_lifted() -> None:
    limits = ClientLimits().changed({"memory_limit": "4Gi", "compute_percent": "40"})
    assert (limits.memory_limit, limits.compute_percent) == (4 << 30, 40)
    assert limits.changed({"memory_limit": None}) == ClientLimits(compute_percent=40)


@pytest.mark.parametrize("percent", [0, 101, "12.5", "much"])
def test_a_share_is_a_whole_percentage(percent: Any) -> None:
    with pytest.raises(ValidationError):
        ClientLimits(compute_percent=percent)
