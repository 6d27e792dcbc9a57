import pytest

from nvshare.probe.readings import Readings
from nvshare.probe.ways import recommend
from tests.unit.probe.published import published


@pytest.mark.parametrize(
    ("copied", "setting"),
    [(20.0, "set allocation=auto"), (16.0, "allocation=managed, the default")],
)
def test_copies_have_to_be_clearly_faster(copied: float, setting: str) -> None:
    advice = recommend(published(mapped__both__gb_per_s=copied))
    assert f"15.0 GB/s by prefetches (managed) and at {copied} GB/s by copies (explicit)" in advice
    assert setting in advice


def test_a_gpu_that_cannot_map_memory() -> None:
    advice = recommend(published(machine__virtual_memory_management=0))
    assert advice.startswith("The GPU cannot map memory: the setting allocation=managed")


def test_nothing_is_said_of_what_was_not_measured() -> None:
    assert recommend(Readings({}, {"mapped": "the driver failed"})) == ""
