"""What the page shows, section by section: from lines of benchmarks to a picture and a table.

A section without lines stays, and says which command would fill it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tools.report.chart import Bar, Chart, Group
from tools.report.lines import Line, of_bench

_CALLS = {"launch": "launch a kernel", "copy": "copy", "info": "ask for free memory"}
_CALLS |= {"alloc": "allocate and free", "alloc-10000": "the same, beside 10,000 others"}
_CALLS |= {"large": "allocate 64 MiB and free", "touch": "the same, filled once"}
# A longer bar ends here, with an arrow at its text: all others would be too short to see.
_LONGEST_RATIO = 1.2
_LONG_CALL_NS = 100_000


@dataclass(frozen=True)
class Section:
    """A heading, what it is about, what was measured; the headline is one figure of it."""

    title: str
    about: str
    command: str
    headline: tuple[str, str] | None = None
    chart: Chart | None = None
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.rows)


def sections(lines: Iterable[Line]) -> list[Section]:
    """Return all sections, in the order in which a program meets what they measure."""
    lines = list(lines)
    makers: tuple[Callable[[Sequence[Line]], Section], ...] = (
        _overhead,
        _scenarios,
        _moves,
        _latency,
        _shares,
        _handover,
        _scale,
    )
    return [make(lines) for make in makers]


def _overhead(lines: Sequence[Line]) -> Section:
    found = of_bench(lines, "overhead")
    ways = ("managed", "explicit")
    # Large allocations take what the driver makes of them, and would hide all other bars.
    quick = [line for line in found if max(line[f"{way}_ns"] for way in ways) < _LONG_CALL_NS]
    groups = tuple(
        Group(
            _CALLS.get(str(line["what"]), str(line["what"])),
            tuple(
                Bar(way, max(0.0, _added(line, way)), f"{_added(line, way):+.0f} ns")
                for way in ways
            ),
        )
        for line in quick
    )
    launch = next((line for line in found if line["what"] == "launch"), None)
    return Section(
        "Overhead of a call",
        "Nanoseconds that nvshare adds to a call while the program has its turn, for memory "
        "that the driver moves (managed) and that nvshare moves (explicit). The emulated driver "
        "answers at once, so that little else is measured.",
        "nvshare bench overhead",
        headline=("added to a launch", f"{_added(launch, 'managed'):.0f} ns") if launch else None,
        chart=Chart("overhead", "Nanoseconds added to a call", groups) if groups else None,
        head=("call", "without nvshare", "managed", "explicit", "instructions added"),
        rows=tuple(
            (
                _CALLS.get(str(line["what"]), str(line["what"])),
                *(_ns(line[f"{way}_ns"]) for way in ("bare", *ways)),
                _instructions(line),
            )
            for line in found
        ),
    )


def _added(line: Line, way: str) -> float:
    return float(line[f"{way}_ns"] - line["bare_ns"])


def _ns(value: float) -> str:
    return f"{value / 1e6:.2f} ms" if value >= 1e6 else f"{value:,.0f} ns"


def _instructions(line: Line) -> str:
    bare, managed = (line.get(f"{way}_instructions") for way in ("bare", "managed"))
    return "" if bare is None or managed is None else f"{managed - bare:.0f}"


def _scenarios(lines: Sequence[Line]) -> Section:
    found = [line for line in of_bench(lines, "scenario") if line.get("ratio") is not None]
    names = list(dict.fromkeys(line["scenario"] for line in found))
    places = {
        name: {line["on"]: line for line in found if line["scenario"] == name} for name in names
    }
    groups = tuple(
        Group(
            name,
            tuple(
                Bar(place, min(line["ratio"], _LONGEST_RATIO), _ratio(line["ratio"]))
                for place, line in sorted(places[name].items())
            ),
        )
        for name in names
    )
    # What happened says more than what was simulated.
    judged = [line for line in found if line["on"] == "emulator"] or found
    worst = max(judged, key=lambda line: float(line["ratio"]), default=None)
    return Section(
        "Scenarios against the ideal",
        "How long programs that share GPUs take, as a multiple of the ideal time: all their "
        "work, one after the other, with nothing lost. On the emulator real processes run; the "
        "simulator works the same scenario out.",
        "nvshare bench scenarios",
        headline=(f"times the ideal at most ({worst['scenario']})", f"{worst['ratio']:.2f}")
        if worst
        else None,
        chart=Chart(
            "scenarios",
            "Time taken as a multiple of the ideal",
            groups,
            line="ideal",
            origin=1.0,
        )
        if groups
        else None,
        head=("scenario", "on", "took", "ideal", "ratio", "turn changes", "moved out"),
        rows=tuple(
            (
                line["scenario"],
                line["on"],
                f"{line['makespan_seconds']:,.1f} s",
                f"{line['ideal_seconds']:,.1f} s",
                f"{line['ratio']:.3f}",
                f"{line['turn_changes']:,}",
                f"{line['moved_out'] / 1e9:,.1f} GB",
            )
            for line in found
        ),
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" + (" →" if ratio > _LONGEST_RATIO else "")


def _moves(lines: Sequence[Line]) -> Section:
    found = of_bench(lines, "swap")
    ways = list(dict.fromkeys(line["way"] for line in found))
    groups = tuple(
        Group(
            f"{way}, {line['out_bytes'] / 1e9:.1f} GB",
            (
                Bar(
                    "a change of turn",
                    line["seconds"],
                    f"{line['seconds']:.3f} s",
                    line["limit_seconds"],
                ),
            ),
        )
        for way in ways
        for line in found
        if line["way"] == way
    )
    worst = max((line["ratio"] for line in found), default=None)
    return Section(
        "Memory that moves",
        "Seconds for which a GPU stands still when a turn changes between two programs that do "
        "not fit beside each other, and what the bus alone would take for the larger direction.",
        "nvshare bench swap",
        headline=("times the bus alone, per change of turn", f"{worst:.2f}") if worst else None,
        chart=Chart("moves", "Seconds per change of turn", groups, target="the bus alone")
        if groups
        else None,
        head=("way", "out per change", "in per change", "took", "the bus alone", "ratio", "faults"),
        rows=tuple(
            (
                line["way"],
                f"{line['out_bytes'] / 1e9:.1f} GB",
                f"{line['in_bytes'] / 1e9:.1f} GB",
                f"{line['seconds']:.3f} s",
                f"{line['limit_seconds']:.3f} s",
                f"{line['ratio']:.3f}",
                f"{line['faults']:,}",
            )
            for line in found
        ),
    )


def _latency(lines: Sequence[Line]) -> Section:
    found = [line for line in of_bench(lines, "latency") if line["wait_p50_s"] is not None]
    cases = list(dict.fromkeys(_case(line) for line in found))
    groups = tuple(
        Group(
            case,
            tuple(
                Bar(
                    line["on"],
                    line["wait_p50_s"],
                    f"{line['wait_p50_s']:.2f} s",
                    line["bound_p50_s"],
                )
                for line in found
                if _case(line) == case
            ),
        )
        for case in cases
    )
    notebook = next((line for line in found if _case(line) == "notebook"), None)
    return Section(
        "Latency",
        "How long a program that wants a GPU now and then waits for it, in half of its bursts, "
        "beside what it would wait if requests were served first come, first served.",
        "nvshare bench latency",
        headline=("a notebook waits for a GPU (p50)", f"{notebook['wait_p50_s']:.2f} s")
        if notebook
        else None,
        chart=Chart("latency", "Seconds until the first kernel (p50)", groups, target="at best")
        if groups
        else None,
        head=("case", "on", "p50", "at best", "p99", "at best", "others lose"),
        rows=tuple(
            (
                _case(line),
                line["on"],
                *(
                    f"{line[key]:.2f} s"
                    for key in ("wait_p50_s", "bound_p50_s", "wait_p99_s", "bound_p99_s")
                ),
                "" if line["others_loss"] is None else f"{100 * line['others_loss']:.1f} %",
            )
            for line in found
        ),
    )


def _case(line: Line) -> str:
    more = [line["priority"]] if line["priority"] != "normal" else []
    more += [f"{key}={value}" for key, value in line["settings"].items()]
    return ", ".join([line["case"], *more])


def _shares(lines: Sequence[Line]) -> Section:
    found = [line for line in of_bench(lines, "shares") if line.get("worst_error") is not None]
    # Where turns are taken for memory, the ratio of two programs is judged, and no difference.
    with_share = [
        line
        for line in found
        if line.get("tolerance") is not None and any(one is not None for one in line["set"])
    ]
    cases = list(dict.fromkeys(line["case"] for line in with_share))
    groups = tuple(
        Group(
            case,
            tuple(
                Bar(
                    line["on"],
                    line["worst_error"],
                    f"{line['worst_error']:.2f}",
                    line.get("tolerance"),
                )
                for line in with_share
                if line["case"] == case
            ),
        )
        for case in cases
    )
    worst = max(with_share, key=lambda line: float(line["worst_error"]), default=None)
    return Section(
        "Shares of compute",
        "How far the worst program of a case is from the share that it was given, in percentage "
        "points of a GPU's time, and how far it may be.",
        "nvshare bench shares",
        headline=("percentage points off, at most", f"{worst['worst_error']:.2f}")
        if worst
        else None,
        chart=Chart("shares", "Percentage points off the share", groups, target="allowed")
        if groups
        else None,
        head=("case", "on", "set", "got", "worst error", "allowed"),
        rows=tuple(
            (
                line["case"],
                line["on"],
                " + ".join("none" if one is None else f"{one:g}" for one in line["set"]),
                " + ".join(f"{one:.2f}" for one in line["got"]),
                f"{line['worst_error']:.2f}",
                f"{line['tolerance']:g}" if line.get("tolerance") is not None else "",
            )
            for line in found
        ),
    )


def _handover(lines: Sequence[Line]) -> Section:
    found = of_bench(lines, "handover")
    groups = tuple(
        Group(
            f"{line['clients']} programs",
            tuple(
                Bar(name, line[key], f"{line[key]:,.0f} µs")
                for name, key in (("half of them (p50)", "p50_us"), ("99 of 100 (p99)", "p99_us"))
            ),
        )
        for line in found
    )
    first = found[0] if found else None
    return Section(
        "Hand-over of a turn",
        "Microseconds from the end of one program's turn to the first kernel of the next one, "
        "where no memory has to move.",
        "nvshare bench handover",
        headline=("to hand a turn over (p50)", f"{first['p50_us']:.0f} µs") if first else None,
        chart=Chart("handover", "Microseconds per hand-over", groups) if groups else None,
        head=("programs", "p50", "p99", "hand-overs"),
        rows=tuple(
            (
                f"{line['clients']}",
                f"{line['p50_us']:,.1f} µs",
                f"{line['p99_us']:,.1f} µs",
                f"{line['handovers']:,}",
            )
            for line in found
        ),
    )


def _scale(lines: Sequence[Line]) -> Section:
    found = of_bench(lines, "simulator")
    groups = tuple(
        Group(line["what"], (Bar("simulated seconds", rate := _rate(line), f"{rate:,.0f}"),))
        for line in found
    )
    largest = max(found, key=lambda line: int(line["gpus"]), default=None)
    return Section(
        "Scale",
        "Simulated seconds in a real one: the scheduling core that runs in the daemon, with all "
        "GPUs and programs of a scenario around it.",
        "nvshare bench simulator",
        headline=(f"simulated seconds a second, {largest['gpus']} GPUs", f"{_rate(largest):,.0f}")
        if largest
        else None,
        chart=Chart("scale", "Simulated seconds in a real one", groups) if groups else None,
        head=("scenario", "GPUs", "programs", "simulated", "events", "took"),
        rows=tuple(
            (
                line["what"],
                f"{line['gpus']:,}",
                f"{line['programs']:,}",
                f"{line['simulated_s']:,} s",
                f"{line['events']:,}",
                f"{line['seconds']:.2f} s",
            )
            for line in found
        ),
    )


def _rate(line: Line) -> float:
    return float(line["simulated_s"]) / max(float(line["seconds"]), 0.01)
