"""A snapshot as Prometheus reads it. Keeps nothing: every scrape is drawn from one snapshot.

Programs choose their names themselves, so label values are foreign text: they are escaped and cut
here, once for each program, since every one of its metrics repeats them. The library would do so
for every sample, and take seven times as long: more than a scrape a second may cost. It still says
which form a scraper wants, and reads what is written here in the tests.
"""

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client.exposition import choose_encoder

from nvshare.telemetry.machine_metrics import MISSING, OUTSIDE, UTILISATION
from nvshare.telemetry.metrics import GPU, GROUP, NODE, PROGRAM, Metric, Number, Section, Texts
from nvshare.telemetry.snapshot import NodeStatus

_LONGEST = 128
_OPENMETRICS = "application/openmetrics-text"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

SECTIONS: tuple[Section[Any], ...] = (NODE, GPU, UTILISATION, OUTSIDE, MISSING, PROGRAM, GROUP)


def expose(status: NodeStatus, accept: str) -> tuple[bytes, str]:
    """Return a snapshot as text in the form that a client accepts, and what that form is called."""
    _, content_type = choose_encoder(accept)
    is_open = content_type.startswith(_OPENMETRICS)
    lines = [line for section in SECTIONS for line in _section(section, status, is_open)]
    if is_open:
        lines.append("# EOF\n")
    return "".join(lines).encode(), content_type


def _section(section: Section[Any], status: NodeStatus, is_open: bool) -> list[str]:
    subjects = [
        (_pairs(section.labels, values), subject) for values, subject in section.subjects(status)
    ]
    in_braces = [(f"{{{pairs}}}" if pairs else "", subject) for pairs, subject in subjects]
    lines: list[str] = []
    for metric in section.metrics:
        lines.append(_heading(metric, is_open))
        if metric.value is not None:
            lines += _plain(metric.name, metric.value, in_braces)
        else:
            lines += _labelled(metric, subjects)
    return lines


def _plain(
    name: str, read: Callable[[Any], Number], subjects: list[tuple[str, Any]]
) -> Iterator[str]:
    """Return the samples of a metric without labels of its own. There are thousands of these."""
    for labels, subject in subjects:
        number = read(subject)
        if number is not None:
            yield f"{name}{labels} {float(number)!r}\n"


def _labelled(metric: Metric[Any], subjects: list[tuple[str, Any]]) -> Iterator[str]:
    # Of states and the like there are few, over and over again.
    known: dict[Texts, str] = {}
    for pairs, subject in subjects:
        for more, number in metric.read(subject):
            if more not in known:
                known[more] = _pairs(metric.labels, more)
            own = known[more]
            yield f"{metric.name}{{{pairs}{',' if pairs and own else ''}{own}}} {number!r}\n"


def _heading(metric: Metric[Any], is_open: bool) -> str:
    """Return the lines before a metric. The older form knows no info, and names counters whole."""
    name, kind = metric.name, metric.kind
    if is_open:
        name = name.removesuffix("_total").removesuffix("_info")
    elif kind == "info":
        kind = "gauge"
    return f"# HELP {name} {metric.about}\n# TYPE {name} {kind}\n"


def _pairs(names: Texts, values: Texts) -> str:
    shown = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return ",".join(shown)


def _escaped(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return cut.translate(_ESCAPES) if "\\" in cut or '"' in cut or "\n" in cut else cut
