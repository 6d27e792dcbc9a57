"""The rules of the Trace Event Format, as far as our files use it: raises if one is broken."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

NAMED = {"process_name": "name", "thread_name": "name"}
SORTED = {"process_sort_index": "sort_index", "thread_sort_index": "sort_index"}
METADATA = {**NAMED, **SORTED}


def check_trace(trace: dict[str, Any]) -> None:
    """Check a whole file."""
    assert isinstance(trace["traceEvents"], list)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    slices: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    named = set()
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str)
        assert event["name"]
        assert type(event["pid"]) is type(event["tid"]) is int
        match event["ph"]:
            case "M":
                value = event["args"][METADATA[event["name"]]]
                assert type(value) is (int if event["name"] in SORTED else str)
                if event["name"] in NAMED:
                    named.add((event["name"], event["pid"], event["tid"]))
            case "C":
                assert event["ts"] >= 0
                assert event["args"]
                assert all(isinstance(value, int | float) for value in event["args"].values())
            case "X":
                begin, length = (round(event[key] * 1000) for key in ("ts", "dur"))
                assert begin >= 0
                assert length > 0
                slices[event["pid"], event["tid"]].append((begin, begin + length))
            case other:
                raise AssertionError(other)
    for (process, thread), spans in slices.items():
        assert ("process_name", process, 0) in named
        assert ("thread_name", process, thread) in named
        _check_nesting(spans)


def _check_nesting(spans: list[tuple[int, int]]) -> None:
    """Of two slices of a thread, one is inside the other, or they do not touch each other."""
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    for earlier, later in pairwise(ordered):
        assert earlier[0] <= later[0]
    around: list[int] = []
    for begin, end in ordered:
        while around and around[-1] <= begin:
            around.pop()
        assert not around or end <= around[-1], (begin, end, around)
        around.append(end)


def slices_of(trace: dict[str, Any], thread: str, category: str) -> list[tuple[float, float]]:
    """Return the intervals, in seconds, in which a thread of this name was busy."""
    places = {
        (event["pid"], event["tid"])
        for event in trace["traceEvents"]
        if event["name"] == "thread_name" and event["args"]["name"] == thread
    }
    return [
        _span(event)
        for event in trace["traceEvents"]
        if event["ph"] == "X"
        and event["cat"] == category
        and (event["pid"], event["tid"]) in places
    ]


def _span(event: dict[str, Any]) -> tuple[float, float]:
    """Return its ends in whole nanoseconds, as reported: floats add up to a bit more."""
    begin, length = (round(event[key] * 1000) for key in ("ts", "dur"))
    return begin / 1e9, (begin + length) / 1e9
