"""The permissions of tenants in a cluster, and those of nvshare itself."""

import json
from typing import Any

import pytest

from nvshare.settings import ClientLimits

from .lab import KubectlError, Lab
from .test_limits import CORE, GIB, MEMORY, PRIORITY, annotate, until_size

ACCOUNT = "system:serviceaccount:nvshare:nvshare"
# Both have full rights in their namespace; the policy names one of them.
TENANT, OPERATOR = "mallory", "alice"
ALLOCATION = "nvshare.com/gpu-allocation"
RIGHTS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenants, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}
---
# Not everybody's, but that of some agents.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: status, namespace: default}
rules:
  - {apiGroups: [""], resources: [pods/status], verbs: [patch, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: status, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: status}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}
"""


@pytest.fixture(scope="module")
def values() -> dict[str, str]:
    return {
        "ceilings.node.memory_limit": "3Gi",
        "ceilings.node.priority": "normal",
        "ceilings.node.allocation": "{managed,explicit,auto}",
        "ceilings.namespaces.default.memory_limit": "6Gi",
        "annotationPolicy.enabled": "true",
        "annotationPolicy.users[0]": OPERATOR,
    }


def refused(lab: Lab, *arguments: str) -> str:
    """Run kubectl, which has to be refused; return its message."""
    with pytest.raises(KubectlError) as caught:
        lab.kubectl(*arguments)
    return str(caught.value)


def test_nobody_raises_a_limit_beyond_the_ceiling_of_its_namespace(lab: Lab) -> None:
    asked = {MEMORY: "9Gi", CORE: "40", PRIORITY: "high", ALLOCATION: "native"}
    lab.start_pod("ambitious", "watch-limit", annotations=asked)
    limits = ClientLimits(memory_limit=6 * GIB, compute_percent=40)
    client = lab.until_client("ambitious", lambda one: one.limits == limits)
    assert client.capped == ("memory_limit", "priority")
    assert client.allocation == "managed"
    until_size(lab, "ambitious", 6 * GIB)
    said = "is beyond the ceiling of namespace default"

    def cuts() -> list[str]:
        found = [one for one in lab.events("ambitious") if one["reason"] == "GpuAnnotationCut"]
        return sorted(str(one["message"]) for one in found)

    lab.until(lambda: len(cuts()) == 3, "three events")
    assert all(said in one for one in cuts())
    assert f'{MEMORY}: "9Gi" {said}: 6Gi is in force' in cuts()
    why = lab.in_daemon("nvshare", "why", "ambitious")
    assert "are set by the ceiling of namespace default" in why
    # Below the ceiling a pod gets the limit that it asks for; if it asks for none, the ceiling.
    annotate(lab, "ambitious", f"{MEMORY}=2Gi")
    until_size(lab, "ambitious", 2 * GIB)
    annotate(lab, "ambitious", f"{MEMORY}-")
    until_size(lab, "ambitious", 6 * GIB)


def workload(kind: str, template: dict[str, Any]) -> str:
    """Return a manifest that makes pods of a template."""
    spec: dict[str, Any] = {"template": template}
    if kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
        spec["selector"] = {"matchLabels": template["metadata"]["labels"]}
    if kind == "CronJob":
        spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": spec}}
    group = "batch" if kind in ("Job", "CronJob") else "apps"
    return json.dumps(
        {
            "apiVersion": f"{group}/v1" if kind != "ReplicationController" else "v1",
            "kind": kind,
            "metadata": {"name": "made"},
            "spec": spec,
        }
    )


def template(annotations: dict[str, str], policy: str = "Always") -> dict[str, Any]:
    container = {"name": "main", "image": "workload:1", "imagePullPolicy": "Never"}
    return {
        "metadata": {"labels": {"app": "made"}, "annotations": annotations},
        "spec": {
            "restartPolicy": policy,
            "terminationGracePeriodSeconds": 0,
            "containers": [{**container, "command": ["watch-limit"]}],
        },
    }


def test_only_those_who_are_named_may_annotate_pods(lab: Lab) -> None:
    lab.apply(RIGHTS)
    lab.start_pod("shared", "watch-limit", annotations={MEMORY: "2Gi"})
    tenant, operator = f"--as={TENANT}", f"--as={OPERATOR}"
    # The API server takes a while to put a policy in force.
    dry = ("annotate", "pod", "shared", "--overwrite", "--dry-run=server")

    def is_in_force() -> bool:
        done = lab.cluster.run_kubectl(*dry, f"{MEMORY}=3Gi", tenant)
        return done.returncode != 0 and "may not set" in done.stderr

    lab.until(is_in_force, "the policy")
    for change in (f"{MEMORY}=3Gi", f"{MEMORY}-", f"{PRIORITY}=high", f"{MEMORY}.main=3Gi"):
        said = refused(lab, "annotate", "pod", "shared", "--overwrite", change, tenant)
        assert f"{TENANT} may not set, change or remove annotations nvshare.com/gpu-*" in said
    patch = json.dumps({"metadata": {"annotations": {MEMORY: "3Gi"}}})
    status = ("patch", "pod", "shared", "--subresource=status", "--type=merge", f"--patch={patch}")
    assert "may not set" in refused(lab, *status, tenant)
    # Tenants may change everything else.
    lab.kubectl("annotate", "pod", "shared", "team=a", "nvshare.example.com/gpu-x=1", tenant)
    lab.kubectl("label", "pod", "shared", "team=a", tenant)
    lab.kubectl("annotate", "pod", "shared", "--overwrite", f"{MEMORY}=1Gi", operator)
    until_size(lab, "shared", GIB)
    lab.kubectl("delete", "pod", "shared", tenant)


@pytest.mark.parametrize(
    "kind",
    [
        *("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"),
        *("Job", "CronJob"),
    ],
)
def test_a_template_is_no_way_round(lab: Lab, kind: str) -> None:
    policy = "Never" if kind in ("Job", "CronJob") else "Always"
    annotated = workload(kind, template({MEMORY: "3Gi"}, policy))
    with pytest.raises(KubectlError, match=f"{TENANT} may not set"):
        lab.apply(annotated, "--dry-run=server", f"--as={TENANT}")
    lab.apply(annotated, "--dry-run=server", f"--as={OPERATOR}")
    lab.apply(workload(kind, template({}, policy)), "--dry-run=server", f"--as={TENANT}")


def test_controllers_carry_out_what_those_have_written_who_may(lab: Lab) -> None:
    lab.apply(workload("Deployment", template({MEMORY: "1Gi"})), f"--as={OPERATOR}")
    try:

        def annotations() -> list[str]:
            pods = lab.get("pods", "-l", "app=made")["items"]
            return [one["metadata"]["annotations"][MEMORY] for one in pods]

        lab.until(lambda: annotations() == ["1Gi"], "a pod of the deployment")
    finally:
        lab.kubectl("delete", "deployment", "made", "--cascade=foreground")


def permitted(lab: Lab, account: str) -> set[str]:
    """Return an account's rights to resources, as kubectl lists them, in all namespaces."""
    lines = lab.kubectl("auth", "can-i", "--list", f"--as={account}").splitlines()[1:]
    return {" ".join(line.split()) for line in lines if not line.startswith(" ")}


def test_the_account_of_nvshare_may_do_what_is_documented_and_nothing_else(lab: Lab) -> None:
    everybody = permitted(lab, "system:serviceaccount:default:default")
    assert permitted(lab, ACCOUNT) - everybody == {
        "events [] [] [create]",
        "pods [] [] [list watch]",
    }
    assert permitted(lab, "system:serviceaccount:nvshare:default") == everybody


def test_calls_within_succeed_and_calls_outside_are_refused(lab: Lab) -> None:
    lab.start_pod("bystander", "watch-limit", gpus=None)
    account = f"--as={ACCOUNT}"
    assert "bystander" in lab.kubectl("get", "pods", "--all-namespaces", account)
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "bystander.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "bystander", "namespace": "default"},
    }
    path = lab.cluster.kubeconfig.with_name("event.json")
    path.write_text(json.dumps(event))
    lab.kubectl("create", "-f", str(path), account)
    for call in (
        ("get", "pod", "bystander"),
        ("annotate", "pod", "bystander", "x=y"),
        ("delete", "pod", "bystander"),
        ("get", "events"),
        ("delete", "event", "bystander.1"),
        ("get", "nodes"),
        ("get", "secrets", "-n", "nvshare"),
        ("get", "configmaps", "-n", "nvshare"),
        ("get", "daemonsets", "-n", "nvshare"),
        ("create", "namespace", "mine"),
        ("create", "clusterrolebinding", "mine", "--clusterrole=cluster-admin", "--user=x"),
        ("create", "token", "nvshare", "-n", "nvshare"),
        ("exec", "bystander", "--", "true"),
    ):
        assert "forbidden" in refused(lab, account, *call).lower(), call
