import pytest

from nvshare.cli.lab.emulate.calibration import nearest_profile, write_profile
from nvshare.lab.emulator.profile import Managed, Profile, known_profiles, load_known, parse_profile
from nvshare.probe.derived import derive
from nvshare.probe.readings import Readings
from nvshare.probe.report import Report
from tests.unit.probe.published import published


def written(readings: Readings, *, quick: bool = False) -> str:
    return write_profile(Report("0.1.0", "2026-03-05", False, 1.0, quick, readings))


def parsed(readings: Readings) -> Profile:
    return parse_profile(written(readings), source="written")


def test_what_was_measured_is_in_it() -> None:
    profile = parsed(published())
    assert profile.gpu.name == "Tesla T4"
    assert profile.bus.device_to_host_gb_per_s == 13.1
    assert profile.managed.fault_gb_per_s == 0.72
    assert profile.memory.usable_mib == 14_913
    assert profile.engine.queue_depth == 1023
    assert profile.board.temperature_idle_c == 33


def test_lines_say_where_they_come_from() -> None:
    text = written(published())
    measured = "# measured by doctor on 2026-03-05, driver 595.45.04"
    assert f"\nduplex = 1.7                        {measured}\n" in text
    assert "\npeer_gb_per_s = 12                  # assumed, as t4\n" in text
    assert "--quick" not in text
    assert "--quick" in written(published(), quick=True)


def test_what_could_not_be_measured_is_assumed_and_says_why() -> None:
    readings = published()
    del readings.values["faults.gb_per_s"]
    readings.miss("faults", "the kernel did not end")
    assert parsed(readings).managed.fault_gb_per_s == load_known("t4").managed.fault_gb_per_s
    assert "# assumed, as t4: the kernel did not end\n" in written(readings)


def test_what_no_profile_can_have_is_assumed_and_says_so() -> None:
    readings = published(machine__pcie_generation=9)
    assert parsed(readings).bus.pcie_generation == 3
    assert "# assumed, as t4: 9 was measured, which no profile can have\n" in written(readings)


def test_a_gpu_larger_than_the_nearest_one() -> None:
    readings = published(
        machine__name="NVIDIA T9",
        machine__memory_bytes=64 << 30,
        memory__usable_bytes=63 << 30,
        machine__shared_per_multiprocessor=512 << 10,
        machine__shared_per_block=500 << 10,
    )
    profile = parsed(readings)
    assert (profile.memory.total_mib, profile.memory.usable_mib) == (65_536, 64_512)
    assert profile.gpu.shared_kib_per_block == 500


@pytest.mark.parametrize("field", ["host_page_us", "host_map_us", "host_unmap_us", "service_us"])
def test_constants_of_the_host_are_told_whether_or_not_there_is_a_field(field: str) -> None:
    (line,) = [one for one in written(published()).splitlines() if f"{field} = " in one]
    assert line.startswith("# ") is (field not in Managed.model_fields)


@pytest.mark.parametrize("name", known_profiles())
def test_a_gpu_is_nearest_to_itself(name: str) -> None:
    gpu = load_known(name)
    measured = derive(
        published(
            machine__name="something else",
            machine__compute_major=int(gpu.gpu.compute_capability.split(".")[0]),
            machine__compute_minor=int(gpu.gpu.compute_capability.split(".")[1]),
            machine__memory_bytes=round(gpu.memory.total_mib * 2**20),
        )
    )
    _, nearest = nearest_profile(measured)
    assert nearest.gpu.compute_capability == gpu.gpu.compute_capability
    assert nearest.memory.total_mib == gpu.memory.total_mib


def test_a_report_of_next_to_nothing_is_still_a_profile() -> None:
    profile = parsed(Readings({"machine.name": "Tesla T4"}))
    assert profile == load_known("t4")
