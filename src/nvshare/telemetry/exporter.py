"""A snapshot as Prometheus reads it. Keeps nothing: every scrape is drawn from one snapshot.

Programs choose their names themselves, so label values are foreign text: escaping is the library's
business, and they are cut here, since every one of a program's metrics repeats them.
"""

from collections.abc import Iterator
from typing import Any

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from nvshare.telemetry.machine_metrics import MISSING, OUTSIDE, UTILISATION
from nvshare.telemetry.metrics import GPU, GROUP, NODE, PROGRAM, Metric, Section, Texts
from nvshare.telemetry.snapshot import NodeStatus

_LONGEST = 128

SECTIONS: tuple[Section[Any], ...] = (NODE, GPU, UTILISATION, OUTSIDE, MISSING, PROGRAM, GROUP)


class Snapshot(Collector):
    """A snapshot in the place of what the library would have counted itself."""

    def __init__(self, status: NodeStatus) -> None:
        self._status = status

    def collect(self) -> Iterator[Family]:
        """Return every metric with its samples."""
        for section in SECTIONS:
            subjects = [
                (tuple(map(_cut, values)), subject)
                for values, subject in section.subjects(self._status)
            ]
            for metric in section.metrics:
                yield _family(section.labels, metric, subjects)


def expose(status: NodeStatus, accept: str) -> tuple[bytes, str]:
    """Return a snapshot as text in the form that a client accepts, and what that form is called."""
    encode, content_type = choose_encoder(accept)
    return encode(Snapshot(status)), content_type


def _family(labels: Texts, metric: Metric[Any], subjects: list[tuple[Texts, Any]]) -> Family:
    base = metric.name.removesuffix("_total").removesuffix("_info")
    family = Family(base, metric.about, metric.kind)
    names = (*labels, *metric.labels)
    for values, subject in subjects:
        for more, number in metric.read(subject):
            texts = (*values, *map(_cut, more))
            family.add_sample(metric.name, dict(zip(names, texts, strict=True)), number)
    return family


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
