"""Numbers that both the interposer and Python have: Python does the same, or relies on them.

The messages between the two are generated (protocol/). These numbers are not sent, only known.
"""

import re
from pathlib import Path

import pytest

from nvshare.core.settings import Settings
from nvshare.daemon.host import extents
from nvshare.lab.sim import meter, mover, program
from nvshare.probe.probes import mapped

INTERPOSER = Path(__file__).parents[3] / "native" / "interposer"
_NUMBER = re.compile(r"\(uint64_t\)|[uU]?[lL]+\b|(?<=\d)u\b")


def c_number(file: str, name: str) -> int:
    """Return a number that a C file defines, in nanoseconds if it is a time."""
    text = (INTERPOSER / file).read_text(encoding="utf-8")
    found = re.search(rf"\b{name}(?: =|\s)\s*([^,;}}\n/]+)", text)
    assert found, f"{file} has no {name}"
    words = _NUMBER.sub("", found[1]).replace("CLOCK_MS", "1000000 *").strip()
    assert re.fullmatch(r"[\d\s()<*]+", words), words
    return int(eval(words))  # noqa: S307 (digits and three operators)


@pytest.mark.parametrize(
    ("file", "name", "ours"),
    [
        # A program without a daemon keeps its share as one that fits keeps it with a daemon.
        ("process/devices.c", "default_window_ns", 2e9 * Settings().share_slice_seconds),
        ("session/report.c", "usual_pause", 1e9 * meter.USAGE_PAUSE),
        ("gate/inflight.c", "WINDOW_LEAST", program.LEAST_IN_FLIGHT),
        ("moves/lane.h", "LANE_CHUNK_FIRST", mapped.CHUNK),
        ("explicit/extent.h", "EXTENT_BYTES", extents.EXTENT),
    ],
)
def test_both_have_the_same_number(file: str, name: str, ours: float) -> None:
    assert c_number(file, name) == ours


def test_the_simulator_bounds_work_in_flight_as_the_interposer_does() -> None:
    text = (INTERPOSER / "gate/inflight.c").read_text(encoding="utf-8")
    part = re.search(r"inflight_ns, memory_order_relaxed\) / (\d) \* (\d);", text)
    low = re.search(r"is_low, memory_order_relaxed\) \? most / (\d) : most;", text)
    assert part
    assert low
    assert int(part[2]) / int(part[1]) == program.IN_FLIGHT_AIM
    assert int(low[1]) == program.IN_FLIGHT_LOW


def test_the_simulator_tells_of_moves_less_often_than_the_interposer() -> None:
    assert mover.MOST_STEP < mover.LEAST_STEP < c_number("moves/mover.c", "STEPS")


def test_the_interposer_takes_the_extents_that_the_daemon_makes() -> None:
    page = c_number("explicit/extent.h", "EXTENT_PAGE")
    assert extents.EXTENT % page == 0
    assert extents.EXTENT // page <= c_number("explicit/extent.h", "EXTENT_PAGES_MAX")
