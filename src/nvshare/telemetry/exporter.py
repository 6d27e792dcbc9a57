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

from abc import ABC, abstractmethod
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
        self._metrics = [_MetricText(metric, section.labels) for metric in section.metrics]
        # Of each subject, the values of its labels, and these as they are written.
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
    """The text of one metric, for subjects with these labels."""

    def __init__(self, metric: Metric[Any], labels: Texts) -> None:
        self.headings = (_heading(metric, is_open=False), _heading(metric, is_open=True))
        name = metric.name
        self.columns: list[_Column] = [
            _PlainColumn(read, name, _pairs(metric.labels, values), bool(labels))
            for values, read in metric.columns
        ]
        if metric.read is not None:
            self.columns.append(_LabelledColumn(metric.read, name, metric.labels))


class _Column(ABC):
    """The lines of one column: for each subject, the one of the last scrape."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read
        self._numbers: list[Any] = []
        self._lines: list[str] = []
        self._text = b""

    def move(self, places: list[int | None]) -> None:
        """Reorder the subjects: for each, its former place, if it had one."""
        numbers, lines = self._numbers, self._lines
        self._numbers = [_UNKNOWN if place is None else numbers[place] for place in places]
        self._lines = ["" if place is None else lines[place] for place in places]
        self._text = "".join(self._lines).encode()

    def text(self, pairs: list[str], subjects: list[Any]) -> bytes:
        """Return the lines; they are written again only if a number has changed."""
        numbers = list(map(self._read, subjects))
        if numbers != self._numbers:
            self._lines = self._written(pairs, numbers)
            self._numbers = numbers
            self._text = "".join(self._lines).encode()
        return self._text

    @abstractmethod
    def _written(self, pairs: list[str], numbers: list[Any]) -> list[str]:
        """Return a line for each subject."""


class _PlainColumn(_Column):
    """One sample of each subject that has a number."""

    def __init__(
        self, read: Callable[[Any], Any], name: str, own: str, subjects_have_labels: bool
    ) -> None:
        super().__init__(read)
        # The text before and behind the labels of a subject, of which at least one is not empty.
        if subjects_have_labels:
            self._around = f"{name}{{", f",{own}}} " if own else "} "
        else:
            self._around = name, f"{{{own}}} " if own else " "

    def _written(self, pairs: list[str], numbers: list[Any]) -> list[str]:
        # Thousands of lines in a scrape: there is no call of a function for each.
        head, tail = self._around
        return [
            line
            if number == before
            else f"{head}{labels}{tail}{float(number)!r}\n"
            if number is not None
            else ""
            for line, number, before, labels in zip(
                self._lines, numbers, self._numbers, pairs, strict=True
            )
        ]


class _LabelledColumn(_Column):
    """All samples that a subject has, each with labels of its own."""

    def __init__(self, read: Callable[[Any], Any], name: str, labels: Texts) -> None:
        super().__init__(read)
        self._name = name
        self._labels = labels

    def _written(self, pairs: list[str], numbers: list[Any]) -> list[str]:
        # All of them: they change seldom, with a mode or a priority.
        return [
            "".join(self._line(own, *sample) for sample in samples)
            for own, samples in zip(pairs, numbers, strict=True)
        ]

    def _line(self, pairs: str, values: Texts, number: float) -> str:
        own = _pairs(self._labels, values)
        labels = f"{pairs},{own}" if pairs and own else pairs or own
        return f"{self._name}{{{labels}}} {number!r}\n" if labels else f"{self._name} {number!r}\n"


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
