"""A snapshot as Prometheus reads it: every scrape is drawn from one snapshot.

Programs choose their names themselves, so label values are foreign text: they are escaped and cut
here, once for each program, since every one of its metrics repeats them. The library would do so
for every sample, and take seven times as long: more than a scrape a second may cost. It is still
used to negotiate the format, and the tests parse the text with it.

From one scrape to the next most numbers stay the same, and writing a line of text costs ten times
as much as comparing its number. So an exposition keeps the lines of the last scrape with their
numbers, column by column: a column is one metric with one value of its own labels, such as the time
that every program has waited. Nothing else is kept: programs that are gone are forgotten.
"""

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client.exposition import choose_encoder

from nvshare.telemetry.machine_metrics import MISSING, OUTSIDE, UTILISATION
from nvshare.telemetry.metrics import GPU, GROUP, NODE, PROGRAM, Metric, Section, Texts
from nvshare.telemetry.snapshot import NodeStatus

_LONGEST = 128
_OPENMETRICS = "application/openmetrics-text"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
# No number is equal to this.
_UNKNOWN = object()

SECTIONS: tuple[Section[Any], ...] = (NODE, GPU, UTILISATION, OUTSIDE, MISSING, PROGRAM, GROUP)


class Exposition:
    """Writes snapshots, one after the other."""

    def __init__(self) -> None:
        self._sections = [_SectionText(section) for section in SECTIONS]

    def texts(self, status: NodeStatus, content_type: str) -> Iterator[bytes]:
        """Give the text of a snapshot, piece by piece. One snapshot has to end before the next."""
        is_open = content_type.startswith(_OPENMETRICS)
        for section in self._sections:
            yield from section.texts(status, is_open)
        if is_open:
            yield b"# EOF\n"


def choose_content_type(accept: str) -> str:
    """Return the content type that a client accepts."""
    return choose_encoder(accept)[1]


def expose(status: NodeStatus, accept: str) -> tuple[bytes, str]:
    """Return one snapshot as text, and its content type."""
    content_type = choose_content_type(accept)
    return b"".join(Exposition().texts(status, content_type)), content_type


class _SectionText:
    """The text of one section, and its last subjects."""

    def __init__(self, section: Section[Any]) -> None:
        self._section = section
        self._metrics = [_MetricText(metric) for metric in section.metrics]
        # By the label values of a subject, their text.
        self._known: dict[Texts, str] = {}

    def texts(self, status: NodeStatus, is_open: bool) -> Iterator[bytes]:
        found = list(self._section.subjects(status))
        labels, subjects = [one[0] for one in found], [one[1] for one in found]
        if labels != list(self._known):
            self._change_subjects(labels)
        pairs = list(self._known.values())
        for metric in self._metrics:
            yield metric.headings[is_open]
            for column in metric.columns:
                yield column.text(pairs, subjects)

    def _change_subjects(self, labels: list[Texts]) -> None:
        places = {one: place for place, one in enumerate(self._known)}
        names = self._section.labels
        self._known = {one: self._known.get(one) or _pairs(names, one) for one in labels}
        for metric in self._metrics:
            for column in metric.columns:
                column.move([places.get(one) for one in labels])


class _MetricText:
    """The text of one metric."""

    def __init__(self, metric: Metric[Any]) -> None:
        self.headings = (_heading(metric, is_open=False), _heading(metric, is_open=True))
        name = metric.name
        self.columns = [
            _Column(read, _Plain(name, _pairs(metric.labels, values)))
            for values, read in metric.columns
        ]
        if metric.read is not None:
            self.columns.append(_Column(metric.read, _Labelled(name, metric.labels)))


class _Column:
    """The lines of one column: for each subject, that of the last scrape."""

    def __init__(self, read: Callable[[Any], Any], write: Callable[[str, Any], str]) -> None:
        self._read = read
        self._write = write
        self._numbers: list[Any] = []
        self._lines: list[bytes] = []
        self._text = b""

    def move(self, places: list[int | None]) -> None:
        """Reorder the subjects: for each, its former place, if it had one."""
        numbers, lines = self._numbers, self._lines
        self._numbers = [_UNKNOWN if place is None else numbers[place] for place in places]
        self._lines = [b"" if place is None else lines[place] for place in places]
        self._text = b"".join(self._lines)

    def text(self, pairs: list[str], subjects: list[Any]) -> bytes:
        """Write the lines whose numbers have changed."""
        numbers = list(map(self._read, subjects))
        if numbers != self._numbers:
            write = self._write
            self._lines = [
                line if number == before else write(own, number).encode()
                for line, number, before, own in zip(
                    self._lines, numbers, self._numbers, pairs, strict=True
                )
            ]
            self._numbers = numbers
            self._text = b"".join(self._lines)
        return self._text


class _Plain:
    """Writes the one sample of a subject, if it has a number."""

    def __init__(self, name: str, own: str) -> None:
        self._name = name
        self._own = own

    def __call__(self, pairs: str, number: float | None) -> str:
        return "" if number is None else _line(self._name, pairs, self._own, float(number))


class _Labelled:
    """Writes all samples of a subject, each with labels of its own."""

    def __init__(self, name: str, labels: Texts) -> None:
        self._name = name
        self._labels = labels

    def __call__(self, pairs: str, samples: list[tuple[Texts, float]]) -> str:
        return "".join(
            _line(self._name, pairs, _pairs(self._labels, values), number)
            for values, number in samples
        )


def _line(name: str, pairs: str, own: str, number: float) -> str:
    labels = f"{pairs},{own}" if pairs and own else pairs or own
    return f"{name}{{{labels}}} {number!r}\n" if labels else f"{name} {number!r}\n"


def _heading(metric: Metric[Any], *, is_open: bool) -> bytes:
    """Return the header of a metric. The older format has no info, and full counter names."""
    name, kind = metric.name, metric.kind
    if is_open:
        name = name.removesuffix("_total").removesuffix("_info")
    elif kind == "info":
        kind = "gauge"
    return f"# HELP {name} {metric.about}\n# TYPE {name} {kind}\n".encode()


def _pairs(names: Texts, values: Texts) -> str:
    """Write labels. To Prometheus, an empty label is the same as none."""
    pairs = zip(names, values, strict=True)
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs if value)


def _escaped(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return cut.translate(_ESCAPES) if "\\" in cut or '"' in cut or "\n" in cut else cut
