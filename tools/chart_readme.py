"""Writes the README of the Helm chart from its values, their comments, and their schema.

python -m tools.chart_readme
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tools.manifests import CHART

README = CHART / "README.md"

_TEXT = """\
# nvshare

{description}.

Version {version}. Made from values.yaml and values.schema.json with `make manifests`: do not edit.

    helm install nvshare nvshare-{version}.tgz --namespace nvshare --create-namespace \\
        --set image.repository=registry.example.com/nvshare

Needs Kubernetes {kubernetes}. Nodes need the NVIDIA driver and the NVIDIA container toolkit,
or, with `emulated.enabled=true`, nothing. docs/installing.md shows how to build the
image, and docs/kubernetes.md describes everything else.

## Values

| value | default | may be | meaning |
|---|---|---|---|
{rows}
"""
# Definitions of the schema, in words.
_NAMED = {
    "positive": "more than 0",
    "notNegative": "0 or more",
    "fraction": "0 to 1",
    "folder": "a path",
}
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "boolean": "true, false",
    "null": "null",
    "integer": "a whole number",
    "number": "a number",
}
_KEY = re.compile(r"^( *)([A-Za-z]+):")
_COMMENT = re.compile(r"^ *# ?(.*)$")


@dataclass(frozen=True)
class Row:
    """One value."""

    name: str
    default: str
    may_be: str
    meaning: str

    def __str__(self) -> str:
        cells = (f"`{self.name}`", self.default, self.may_be, self.meaning)
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def comments(text: str) -> dict[str, str]:
    """Return the comment right above each key, by the key's dotted name."""
    found: dict[str, str] = {}
    path: list[str] = []
    pending: list[str] = []
    for line in text.splitlines():
        if comment := _COMMENT.match(line):
            pending.append(comment[1])
            continue
        if key := _KEY.match(line):
            path = [*path[: len(key[1]) // 2], key[2]]
            if pending:
                found[".".join(path)] = " ".join(pending)
        pending = []
    return found


def may_be(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return the values that a schema allows, in words."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return _NAMED.get(name) or may_be(definitions[name], definitions)
    if "anyOf" in schema:
        return ", or ".join(may_be(part, definitions) for part in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']} to {schema['maximum']}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(_TYPES[name] for name in types)


def rows(
    values: Mapping[str, Any],
    schema: Mapping[str, Any],
    told: Mapping[str, str],
    definitions: Mapping[str, Any],
    prefix: str = "",
) -> Iterator[Row]:
    """Yield a row for each value, and one for each group that has a comment."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        part = schema["properties"][key]
        inner = definitions[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        meaning = told.get(name, "")
        if value and "properties" in inner:
            if meaning:
                yield Row(name, "", "", meaning)
            yield from rows(value, inner, told, definitions, f"{name}.")
        else:
            yield Row(name, f"`{json.dumps(value)}`", may_be(part, definitions), meaning)


def readme() -> str:
    """Return the text of the README."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    text = (CHART / "values.yaml").read_text()
    schema = json.loads((CHART / "values.schema.json").read_text())
    made = rows(yaml.safe_load(text), schema, comments(text), schema["definitions"])
    return _TEXT.format(
        description=chart["description"],
        version=chart["version"],
        kubernetes=chart["kubeVersion"].removesuffix(".0-0").replace(">=", "") + " or newer",
        rows="\n".join(str(row) for row in made),
    )


if __name__ == "__main__":
    README.write_text(readme())
    print(README)
