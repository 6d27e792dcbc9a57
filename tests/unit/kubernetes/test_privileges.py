"""The manifests need few permissions of a cluster and its nodes, and all are documented."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
MANIFESTS = sorted((ROOT / "deploy" / "manifests").glob("*.yaml"))
# The permissions of a container beyond the least, and why.
EXCEPTIONS = {
    "prepare": {"runAsUser": 0, "runAsNonRoot": False},  # writes into a folder of root's
    "daemon": {"runAsUser": 0, "runAsNonRoot": False},  # is believed because its folders are root's
    "device-plugin": {"runAsUser": 0, "runAsNonRoot": False},  # kubelet's folders are root's
}
LEAST = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
POD_EXCEPTIONS = {"hostPID"}


def things(path: Path, kind: str) -> Iterator[Any]:
    for one in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        if one and one["kind"] == kind:
            yield one


def table(heading: str) -> list[list[str]]:
    """Return the rows of the first table behind some words of the manual."""
    text = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    rows = re.search(r"\n\|---.*\n((?:\|.*\n)+)", text[text.index(heading) :])
    assert rows
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1].splitlines()]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_containers_have_the_least_and_exceptions_that_are_documented(path: Path) -> None:
    (found,) = things(path, "DaemonSet")
    pod = found["spec"]["template"]["spec"]
    containers = [*pod["initContainers"], *pod["containers"]]
    contexts = {one["name"]: one["securityContext"] for one in containers}
    assert contexts == {name: {**LEAST, **more} for name, more in EXCEPTIONS.items()}
    assert "securityContext" not in pod
    assert {name for name in pod if name.startswith("host")} == POD_EXCEPTIONS
    documented = {row[0].strip("`") for row in table("**On the node**")}
    assert set(EXCEPTIONS) <= documented
    assert {f"`{name}`" for name in POD_EXCEPTIONS} <= {
        row[1] for row in table("**On the node**") if row[0].startswith("all")
    }


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_what_the_account_may_do_is_what_the_manual_says(path: Path) -> None:
    (role,) = things(path, "ClusterRole")
    assert not list(things(path, "Role"))
    asked = {
        (group, resource, *rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    rows = table("**In the cluster**")
    documented = {("", row[0].strip("`"), *re.findall(r"`(\w+)`", row[1])) for row in rows}
    assert asked == documented
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in role["rules"])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_nobody_is_kept_from_annotating_unless_that_is_asked_for(path: Path) -> None:
    assert not list(things(path, "ValidatingAdmissionPolicy"))
