"""From a monitor to the metrics of a pod, as Prometheus discovers them."""

import http.client
import json
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.monitoring_files import alerts, dashboard
from tools.manifests import render

from .cluster.node import NAME, Cluster
from .conftest import EMULATED
from .lab import KubectlError, Lab
from .monitoring import GROUP, definitions

MONITORS = {"metrics.podMonitor": "podMetricsEndpoints", "metrics.serviceMonitor": "endpoints"}
GIB = 1 << 30
# The API server's resource for the endpoints of a service, and its label for the service.
SLICES, SERVICE = "endpointslices.discovery.k8s.io", "kubernetes.io/service-name"


@pytest.fixture(scope="module")
def values(cluster: Cluster) -> dict[str, str]:
    """Both monitors, in a cluster that knows their types."""
    lab = Lab(cluster)
    lab.apply(definitions())
    kinds = ("podmonitors", "servicemonitors", "prometheusrules")
    names = [f"customresourcedefinition/{kind}.{GROUP}" for kind in kinds]
    lab.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)
    return {
        **{f"{name}.enabled": "true" for name in MONITORS},
        "metrics.podMonitor.labels.release": "prometheus",
        "metrics.podMonitor.interval": "15s",
        "metrics.rules.enabled": "true",
        "metrics.rules.labels.release": "prometheus",
        "metrics.dashboard.enabled": "true",
    }


def get(address: str, port: int, path: str = "/metrics") -> tuple[int, str]:
    """Ask a pod, from the network of the node."""
    connection = http.client.HTTPConnection(address, port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def samples(text: str, name: str) -> list[tuple[dict[str, str], float]]:
    return [
        (sample.labels, sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    ]


def selected(lab: Lab, monitor: Any, kind: str) -> Any:
    """Return the only thing of a kind that a monitor selects."""
    labels = monitor["spec"]["selector"]["matchLabels"].items()
    selector = ",".join(f"{name}={value}" for name, value in labels)
    namespace = monitor["metadata"]["namespace"]
    (found,) = lab.get(kind, "-n", namespace, "-l", selector)["items"]
    return found


def test_a_pod_monitor_leads_to_the_programs_of_pods(lab: Lab) -> None:
    lab.start_pod("trainer", "watch-limit", annotations={"nvshare.com/gpu-memory-limit": "2Gi"})
    client = lab.until_client(
        "trainer",
        # The pod is known at once, its container when kubelet has reported its id.
        lambda one: one.limits.memory_limit == 2 * GIB and one.container_name == "main",
    )

    monitor = lab.get(f"podmonitor.{GROUP}", "nvshare", "-n", "nvshare")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["interval"], endpoint["honorLabels"]) == ("15s", True)
    pod = selected(lab, monitor, "pods")
    assert pod["spec"]["nodeName"] == NAME
    (port,) = [
        port["containerPort"]
        for container in pod["spec"]["containers"]
        for port in container.get("ports", ())
        if port["name"] == endpoint["port"]
    ]
    status, text = get(pod["status"]["podIP"], port)
    assert status == 200
    ((labels, value),) = samples(text, "nvshare_program_memory_limit_bytes")
    assert value == 2 * GIB
    assert labels == {
        "gpu": labels["gpu"],
        "uuid": client.device,
        "namespace": "default",
        "pod": "trainer",
        "container": "main",
        "pid": str(client.pid),
        "program": "watch-limit",
        "client": str(client.id),
    }
    assert len(samples(text, "nvshare_gpu_info")) == 2
    # The network of the cluster reaches metrics and nothing else.
    assert get(pod["status"]["podIP"], port, "/v1/status")[0] == 404


def test_a_service_monitor_leads_to_the_daemons(lab: Lab) -> None:
    monitor = lab.get(f"servicemonitor.{GROUP}", "nvshare", "-n", "nvshare")
    (endpoint,) = monitor["spec"]["endpoints"]
    assert "interval" not in endpoint
    service = selected(lab, monitor, "services")
    assert service["spec"]["clusterIP"] == "None"
    assert [port["name"] for port in service["spec"]["ports"]] == [endpoint["port"]]

    def addresses() -> list[tuple[str, int]]:
        chosen = f"{SERVICE}={service['metadata']['name']}"
        return [
            (address, port["port"])
            for one in lab.get(SLICES, "-n", "nvshare", "-l", chosen)["items"]
            for place in one["endpoints"]
            if place["conditions"]["ready"]
            for address in place["addresses"]
            for port in one["ports"]
            if port["name"] == endpoint["port"]
        ]

    lab.until(lambda: len(addresses()) == 1, "the endpoint of the only node")
    ((address, port),) = addresses()
    assert address == lab.system_pod()["status"]["podIP"]
    assert get(address, port)[0] == 200


def test_alerts_and_dashboard_are_there_as_they_are_in_the_files(lab: Lab) -> None:
    rule = lab.get(f"prometheusrule.{GROUP}", "nvshare", "-n", "nvshare")
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert rule["spec"]["groups"][0]["rules"] == alerts()
    shown = lab.get("configmap", "nvshare-dashboard", "-n", "nvshare")
    assert shown["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(shown["data"]["nvshare.json"]) == dashboard()


def test_a_field_that_monitors_do_not_have_would_be_found(lab: Lab) -> None:
    text = render({**EMULATED, "metrics.podMonitor.enabled": "true"})
    with pytest.raises(KubectlError, match="honourLabels"):
        lab.apply(text.replace("honorLabels:", "honourLabels:"), "--dry-run=server")
