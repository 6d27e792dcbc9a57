"""The alerts and the dashboard that are delivered, as tests read them."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

FILES = Path(__file__).parents[1] / "deploy" / "helm" / "nvshare" / "files"
RULES = FILES / "nvshare.rules.yaml"
DASHBOARD = FILES / "nvshare.dashboard.json"
# A metric and its label selector.
_SELECTOR = re.compile(r"\b(nvshare_\w+)(?:\{([^}]*)\})?")
_GROUPING = re.compile(r"\b(?:by|on|ignoring)\s*\(([^)]*)\)")


def alerts() -> list[dict[str, Any]]:
    """Return every rule."""
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def dashboard() -> dict[str, Any]:
    """Return the dashboard."""
    content: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return content


def queries() -> list[str]:
    """Return every query of the dashboard."""
    return [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]


def selected(expression: str) -> list[tuple[str, set[str]]]:
    """Return the metrics of an expression, each with the labels that it is selected by."""
    return [
        (name, set(re.findall(r"(\w+)\s*=~?", inside or "")))
        for name, inside in _SELECTOR.findall(expression)
    ]


def grouped(expression: str) -> set[str]:
    """Return the labels that an expression groups or matches by."""
    inside = ",".join(_GROUPING.findall(expression))
    return {label.strip() for label in inside.split(",") if label.strip()}
