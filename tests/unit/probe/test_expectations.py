import pytest

from nvshare.probe.expectations import EXPECTATIONS
from nvshare.probe.facts import FACTS
from nvshare.probe.readings import Value
from nvshare.probe.verdict import Verdict, judge
from tests.unit.probe.published import GIB, MIB, VALUES, published


def back_to(step: str, count: str, of: str) -> dict[str, Value]:
    """A count that has at one step its value of another."""
    return {f"memory.{step}.{count}": VALUES[f"memory.{of}.{count}"]}


# For every line, readings that make this line bad and no other.
BAD: dict[str, dict[str, Value]] = {
    "machine.compute_mode": {"machine.compute_mode": "exclusive process"},
    "machine.mps": {"machine.mps": "/tmp/nvidia-mps"},
    "machine.mig": {"machine.mig": True},
    "machine.managed_memory": {"machine.managed_memory": 0},
    "machine.concurrent_managed_access": {"machine.concurrent_managed_access": 0},
    "machine.uuid": {"machine.uuid_nvml": "GPU-2"},
    "machine.pci": {"machine.pci_nvml": "0000:02:00.0"},
    "machine.host_bytes": {"machine.host_bytes": 8 * GIB},
    "machine.cgroup.limit": {"machine.cgroup.limit_bytes": 8 * GIB},
    "memory.free.touched": {
        **back_to("touched", "cuda_free", "allocated"),
        **back_to("out", "cuda_free", "allocated"),
    },
    "memory.free.out": back_to("out", "cuda_free", "allocated"),
    "memory.free.freed": back_to("freed", "cuda_free", "touched"),
    "memory.free.agree": {"memory.context.nvml_free": 0},
    "memory.process": {"memory.touched.process": 1326 * MIB},
    "memory.host.out": back_to("out", "host_used", "touched"),
    "memory.host.back": {
        **back_to("back", "host_used", "touched"),
        # Otherwise it would not fall.
        "memory.freed.host_used": -9 * GIB,
    },
    "memory.host.freed": back_to("freed", "host_used", "back"),
    "memory.cgroup.out": back_to("out", "cgroup", "touched"),
    "prefetch.out.blocks": {"prefetch.out.second.call_s": 1e-5},
    "prefetch.in.returns": {"prefetch.in.second.call_s": 0.096},
    "blocks.first": {"blocks.out.first.total_us": 236.0},
    "prefetch.busy.out": {"prefetch.busy.out.call_s": 0.3},
    "prefetch.both": {"prefetch.both.gain": 1.0},
    "prefetch.wrong_words": {"prefetch.wrong_words": 1},
    "mapped.wrong_words": {"mapped.wrong_words": 1},
    "untouched.host": {"untouched.host_bytes": 0},
    "untouched.time": {"untouched.seconds": 1e-5},
    "faults.slow": {"faults.gb_per_s": 11.0, "crowded.read_s": 0.0001},
    "crowded.moves": {"crowded.read_s": 1.4},
    "crowded.helper": {"crowded.helper.read_s": 0.0044},
    "crowded.helper.wrong_words": {"crowded.helper.wrong_words": 1},
    "side_by_side.memory": {"side_by_side.plain_seen_bytes": 0},
    "side_by_side.utilisation": {"side_by_side.helper_percent": 0},
    "calls.launch": {"calls.launch_ns": 1e6},
    "calls.event_record": {"calls.event_record_ns": 1e6},
    "calls.event_query": {"calls.event_query_ns": 1e6},
    "gate.driver": {"gate.driver_seen": 0},
    "gate.runtime": {"gate.runtime_seen": 0},
    "capture.failures": {"capture.failures": 1},
    "capture.wrong_words": {"capture.wrong_words": 1},
}


def test_all_is_well_with_the_published_driver() -> None:
    lines = judge(published(), EXPECTATIONS)
    assert [line for line in lines if line.verdict is not Verdict.OK] == []


def test_every_line_can_be_bad() -> None:
    assert set(BAD) == {entry.name for entry in EXPECTATIONS}


@pytest.mark.parametrize("name", BAD)
def test_what_is_bad_is_told_by_its_own_line(name: str) -> None:
    readings = published()
    readings.values.update(BAD[name])
    bad = [line.name for line in judge(readings, EXPECTATIONS) if line.verdict is Verdict.BAD]
    assert bad == [name]


def test_every_line_says_who_says_so_and_what_hangs_on_it() -> None:
    assert all(entry.source and entry.decision and entry.expected for entry in EXPECTATIONS)


def test_every_fact_has_a_reading() -> None:
    lines = judge(published(), FACTS)
    assert [line for line in lines if line.verdict is not Verdict.INFO] == []


def test_names_are_used_once() -> None:
    names = [entry.name for entry in FACTS] + [entry.name for entry in EXPECTATIONS]
    assert len(set(names)) == len(names)


def test_kernels_before_5_14_charge_nobody() -> None:
    readings = published(machine__kernel="5.4.0-150-generic")
    readings.values.update(back_to("out", "cgroup", "touched"))
    (line,) = [one for one in judge(readings, EXPECTATIONS) if one.name == "memory.cgroup.out"]
    assert line.verdict is Verdict.OK


def test_a_limit_of_a_cgroup_that_is_large_enough() -> None:
    readings = published(machine__cgroup__limit_bytes=32 * GIB)
    (line,) = [one for one in judge(readings, EXPECTATIONS) if one.name == "machine.cgroup.limit"]
    assert (line.verdict, line.measured) == (Verdict.OK, "32.00 GiB (cgroup v2)")
