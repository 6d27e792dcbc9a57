import pytest

from nvshare.probe.derived import derive, why_not
from nvshare.probe.gpu import BLOCK
from nvshare.probe.readings import Readings
from tests.unit.probe.published import published


def test_parts_of_the_time_of_a_block() -> None:
    found = derive(published())
    assert found["managed.host_page_us"] == pytest.approx(61)
    assert found["managed.host_map_us"] == pytest.approx(231 - 8 - BLOCK / 13.1e3)
    # 512 blocks.
    assert found["managed.host_unmap_us"] == pytest.approx(8240 / 512 - 1.1)
    assert found["managed.service_us"] == pytest.approx(1.1)


def test_a_driver_whose_calls_return_at_once_when_memory_leaves() -> None:
    found = derive(published(blocks__out__second__call_us=5.0))
    assert found["managed.host_map_us"] == pytest.approx(236 - 10 - BLOCK / 13.1e3)


def test_a_driver_whose_calls_wait_when_memory_comes() -> None:
    found = derive(published(prefetch__in__second__call_s=0.095, blocks__in__second__call_us=190.0))
    assert found["managed.host_unmap_us"] == pytest.approx(190 - 8 - BLOCK / 12.3e3)


def test_chance_makes_nothing_negative() -> None:
    changes = {"prefetch__in__second__call_s": 0.0, "blocks__out__first__total_us": 230.0}
    found = derive(published(blocks__out__second__call_us=20.0, **changes))
    assert (found["managed.host_page_us"], found["managed.host_unmap_us"]) == (0, 0)


def test_both_directions_are_never_more_than_two() -> None:
    assert derive(published(bus__duplex=2.07))["bus.duplex"] == 2
    assert derive(published(bus__duplex=0.97))["bus.duplex"] == 1


def test_a_context_is_what_free_memory_fell_by() -> None:
    assert derive(published())["memory.context_mib"] == 300


def test_units() -> None:
    found = derive(published())
    assert (found["gpu.compute_capability"], found["gpu.l2_kib"]) == ("7.5", 4096)
    assert (found["gpu.clock_mhz"], found["gpu.cores_per_multiprocessor"]) == (1590, 64)
    assert found["engine.context_create_ms"] == pytest.approx(210)


def test_what_was_not_measured_is_not_there_and_says_why() -> None:
    readings = Readings({}, {"bus": "no memory"})
    assert derive(readings) == {}
    assert why_not(readings, "bus.duplex") == "no memory"
    assert why_not(readings, "bus.peer_gb_per_s") is None
    assert why_not(published(), "bus.duplex") is None


def test_a_zero_of_the_driver_is_no_answer() -> None:
    readings = published(machine__memory_clock_khz=0, machine__multiprocessors=0)
    assert not {"memory.clock_mhz", "gpu.cores_per_multiprocessor"} & set(derive(readings))
    assert why_not(readings, "memory.clock_mhz") == "the driver does not tell"


def test_a_busy_gpu_tells_nothing_of_an_idle_one() -> None:
    assert "board.power_idle_w" not in derive(published(machine__others=1))
