"""How long a program that computes in bursts waits for the GPU."""

from collections.abc import Callable, Iterator, Sequence

from tools.report.chart import Bar, Chart
from tools.report.lines import Line, of_bench
from tools.report.section import PLACES, Headline, Topic


def _select(lines: Sequence[Line]) -> list[Line]:
    return [line for line in of_bench(lines, "latency") if line["wait_p50_s"] is not None]


def _case(line: Line) -> str:
    more = [line["priority"]] if line["priority"] != "normal" else []
    more += [f"{key}={value}" for key, value in line["settings"].items()]
    return ", ".join([line["case"], *more])


def _bars(line: Line) -> Iterator[Bar]:
    yield Bar(line["on"], line["wait_p50_s"], f"{line['wait_p50_s']:.2f} s", line["bound_p50_s"])


def _headline(lines: Sequence[Line]) -> Headline | None:
    for line in lines:
        if _case(line) == "notebook":
            return "a notebook waits for a GPU (p50)", f"{line['wait_p50_s']:.2f} s"
    return None


def _seconds(key: str) -> Callable[[Line], str]:
    return lambda line: f"{line[key]:.2f} s"


LATENCY = Topic(
    title="Latency",
    about=(
        "The median time that a program with short bursts waits for a GPU, beside the time that it "
        "would wait if the same requests were served in the order of their arrival, each at the "
        "speed of the bus. nvshare may serve them in another order."
    ),
    command="nvshare bench latency",
    select=_select,
    columns=(
        ("case", _case),
        ("on", lambda line: str(line["on"])),
        ("p50", _seconds("wait_p50_s")),
        ("in order", _seconds("bound_p50_s")),
        ("p99", _seconds("wait_p99_s")),
        ("in order", _seconds("bound_p99_s")),
        (
            "others lose",
            lambda line: (
                "" if line["others_loss"] is None else f"{100 * line['others_loss']:.1f} %"
            ),
        ),
    ),
    headline=_headline,
    chart=Chart(
        "latency", "Seconds until the first kernel (p50)", target="served in order", known=PLACES
    ),
    label=_case,
    bars=_bars,
)
