"""What nvshare adds to a call."""

from collections.abc import Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import Headline, Topic

_CALLS = {
    "launch": "launch a kernel",
    "copy": "copy",
    "info": "ask for free memory",
    "alloc": "allocate and free",
    "alloc-10000": "the same, beside 10,000 others",
    "large": "allocate 64 MiB and free",
    "touch": "the same, filled once",
}
_WAYS = ("managed", "explicit")
_LONG_CALL_NS = 100_000


def _short(lines: Sequence[Line]) -> list[Line]:
    """Leave large allocations out: the driver's own time would hide all other bars."""
    return [line for line in lines if max(line[f"{way}_ns"] for way in _WAYS) < _LONG_CALL_NS]


def _call(line: Line) -> str:
    return _CALLS.get(str(line["what"]), str(line["what"]))


def _bars(line: Line) -> Iterator[Bar]:
    for way in _WAYS:
        yield Bar(way, max(0.0, _added(line, way)), f"{_added(line, way):+.0f} ns")


def _added(line: Line, way: str) -> float:
    return float(line[f"{way}_ns"] - line["bare_ns"])


def _headline(lines: Sequence[Line]) -> Headline | None:
    for line in lines:
        if line["what"] == "launch":
            return "added to a launch", f"{_added(line, 'managed'):.0f} ns"
    return None


def _ns(value: float) -> str:
    return f"{value / 1e6:.2f} ms" if value >= 1e6 else f"{value:,.0f} ns"


def _instructions(line: Line) -> str:
    bare, managed = (line.get(f"{way}_instructions") for way in ("bare", "managed"))
    return "" if bare is None or managed is None else f"{managed - bare:.0f}"


OVERHEAD = Topic(
    title="Overhead of a call",
    about=(
        "Nanoseconds that nvshare adds to a call while the program has its turn, for memory "
        "that the driver moves (managed) and that nvshare moves (explicit). The emulated driver "
        "answers at once, so almost only the cost of nvshare is measured."
    ),
    command="nvshare bench overhead",
    select=lambda lines: of_bench(lines, "overhead"),
    columns=(
        ("call", _call),
        ("without nvshare", lambda line: _ns(line["bare_ns"])),
        ("managed", lambda line: _ns(line["managed_ns"])),
        ("explicit", lambda line: _ns(line["explicit_ns"])),
        ("instructions added", _instructions),
    ),
    headline=_headline,
    chart=Chart("overhead", "Nanoseconds added to a call"),
    label=_call,
    bars=_bars,
    drawn=_short,
)
