"""The resource types of the Prometheus operator: two kinds of monitors, and rules.

They have the fields that the chart uses, with the types of the operator's documentation, and a few
more. The API server rejects any other field.
"""

import json
from typing import Any

GROUP = "monitoring.coreos.com"
_TEXT = {"type": "string"}
_LABEL = {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$"}
_DURATION = {
    "type": "string",
    "pattern": "^(0|([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$",
}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_SELECTOR = _object(matchLabels={"type": "object", "additionalProperties": _TEXT})
_RELABELING = _object(
    sourceLabels=_list(_LABEL), targetLabel=_LABEL, regex=_TEXT, replacement=_TEXT, action=_TEXT
)
_ENDPOINT = _object(
    port=_TEXT,
    path=_TEXT,
    interval=_DURATION,
    scrapeTimeout=_DURATION,
    honorLabels={"type": "boolean"},
    relabelings=_list(_RELABELING),
)


_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_RULE = _object(
    ("expr",), alert=_TEXT, expr=_TEXT, labels=_TEXTS, annotations=_TEXTS, **{"for": _DURATION}
)
_GROUP = _object(("name",), name=_TEXT, interval=_DURATION, rules=_list(_RULE))


def _monitor(kind: str, endpoints: str) -> dict[str, Any]:
    required = ("selector", endpoints)
    spec = _object(required, selector=_SELECTOR, **{endpoints: _list(_ENDPOINT)})
    return _definition(kind, spec)


def _definition(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _object(("spec",), spec=spec)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }


def definitions() -> str:
    """Return all kinds, to be applied."""
    kinds = (
        _monitor("PodMonitor", "podMetricsEndpoints"),
        _monitor("ServiceMonitor", "endpoints"),
        _definition("PrometheusRule", _object(groups=_list(_GROUP))),
    )
    return "\n---\n".join(json.dumps(one) for one in kinds)
