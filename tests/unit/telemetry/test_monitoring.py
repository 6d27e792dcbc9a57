"""Alerts and dashboard use only metrics and labels that exist.

A real Prometheus checks whether it understands them and whether they find anything
(tests/kubernetes/test_prometheus.py).
"""

import re

import pytest

from nvshare.telemetry.exporter import SECTIONS
from tests.monitoring_files import alerts, dashboard, grouped, queries, selected

LABELS = {
    metric.name: {*section.labels, *metric.labels}
    for section in SECTIONS
    for metric in section.metrics
}
# Labels that Prometheus adds.
ADDED = {"instance", "job"}
EXPRESSIONS = [*(rule["expr"] for rule in alerts()), *queries()]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_and_label_exists(expression: str) -> None:
    found = selected(expression)
    assert found
    for name, labels in found:
        assert labels <= LABELS[name] | ADDED, (name, labels)
    known = set().union(*(LABELS[name] for name, _ in found)) | ADDED
    assert grouped(expression) <= known


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_only_counters_have_rates(expression: str) -> None:
    for name in re.findall(r"(?:rate|increase)\((nvshare_\w+)", expression):
        assert name.endswith("_total")
    for name, _ in selected(expression):
        if name.endswith("_total"):
            assert re.search(rf"(?:rate|increase)\({name}", expression)


def test_there_is_an_alert_for_everything_that_people_want_to_hear_of() -> None:
    assert [rule["alert"] for rule in alerts()] == [
        "NvshareLongWait",
        "NvshareThrashing",
        "NvshareMovingMemory",
        "NvshareHostMemory",
        "NvshareOutsideProcess",
        "NvshareGpuLost",
        "NvshareRefusals",
    ]


def test_what_alerts_say_is_made_of_labels_that_they_have() -> None:
    for rule in alerts():
        (first, *_) = selected(rule["expr"])
        words = " ".join(rule["annotations"].values())
        used = set(re.findall(r"\$labels\.(\w+)", words))
        assert used <= LABELS[first[0]] | ADDED, rule["alert"]
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("warning", "critical")


def test_panels_have_names_and_places_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels)
