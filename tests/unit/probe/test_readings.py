import pytest

from nvshare.probe.readings import MissingError, Readings


def test_the_nearest_reason_is_told() -> None:
    readings = Readings()
    readings.miss("prefetch", "the probe failed")
    readings.miss("prefetch.out.first", "only this one")
    with pytest.raises(MissingError, match="only this one"):
        readings.get("prefetch.out.first.seconds")
    with pytest.raises(MissingError, match="the probe failed"):
        readings.get("prefetch.out.second")
    with pytest.raises(MissingError, match="not measured"):
        readings.get("bus.in")


def test_nothing_is_no_value() -> None:
    readings = Readings()
    readings.note("bus.in", None, "NVML does not tell")
    readings.note("bus.out", 0)
    assert readings.values == {"bus.out": 0}
    assert readings.absent == {"bus.in": "NVML does not tell"}
