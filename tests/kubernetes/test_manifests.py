"""The chart and its rendered manifests."""

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from nvshare.daemon.config import Config
from nvshare.telemetry.ceilings import Ceiling
from tools.manifests import CHART, TARGET, manifests, render

from .cluster.node import Cluster
from .lab import Lab

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def things(text: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one]


def daemonset(text: str) -> dict[str, Any]:
    (found,) = [one for one in things(text) if one["kind"] == "DaemonSet"]
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in TARGET.iterdir()))
def test_a_manifest_is_as_it_would_be_rendered(name: str) -> None:
    assert (TARGET / name).read_text() == manifests()[name], "run: make manifests"


def test_nothing_more_is_asked_of_the_cluster_than_this() -> None:
    asked = [
        (thing["kind"], rule["apiGroups"], rule["resources"], rule["verbs"])
        for thing in things(render())
        if thing["kind"] in ("Role", "ClusterRole")
        for rule in thing["rules"]
    ]
    assert asked == [
        ("ClusterRole", [""], ["pods"], ["list", "watch"]),
        ("ClusterRole", [""], ["events"], ["create"]),
    ]


@pytest.mark.parametrize("emulated", ["true", "false"])
def test_nothing_more_is_asked_of_the_node_than_this(emulated: str) -> None:
    pod = daemonset(render({"emulated.enabled": emulated}))["spec"]["template"]["spec"]
    assert not pod.get("hostNetwork")
    assert not pod.get("hostIPC")
    for container in [*pod["initContainers"], *pod["containers"]]:
        assert container["securityContext"] == {
            "runAsUser": 0,
            "runAsNonRoot": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert container["resources"]["requests"]
    folders = {one["hostPath"]["path"] for one in pod["volumes"] if "hostPath" in one}
    expected = {
        "/var/lib/nvshare",
        "/run/nvshare",
        "/run/nvshare-private",
        "/var/lib/kubelet/device-plugins",
        "/var/lib/kubelet/pod-resources",
        "/sys/fs/cgroup",
    }
    assert folders == expected | ({"/run/nvshare-emulator"} if emulated == "true" else set())


def mounts(text: str, volume: str) -> dict[str, dict[str, Any]]:
    """Return how containers mount a volume."""
    pod = daemonset(text)["spec"]["template"]["spec"]
    return {
        container["name"]: mount
        for container in [*pod["initContainers"], *pod["containers"]]
        for mount in container["volumeMounts"]
        if mount["name"] == volume
    }


def test_cgroups_are_for_the_daemon_to_read() -> None:
    place = {"name": "cgroup", "mountPath": "/run/nvshare-cgroup", "readOnly": True}
    assert mounts(render(), "cgroup") == {"daemon": {**place, "recursiveReadOnly": "IfPossible"}}
    # The API server of an older cluster would not know the field.
    assert mounts(render({}, "--kube-version=1.29.0"), "cgroup") == {"daemon": place}
    without = render({"cgroupFolder": ""})
    assert "cgroup" not in without.lower()


# A name that does not exist, and values that make no sense.
@pytest.mark.parametrize(
    "wrong",
    [
        "replica=5",
        "replicas=0",
        "replicas=many",
        "image.name=x",
        "preload=magic",
        "oversubscriptionRatio=-1",
        "settings.turn=5",
        "settings.mode=sideways",
        "settings.allocation=mixed",
        "emulated.gpu=2xt4",
        "hostFolder=relative",
        "cgroupFolder=relative",
        "resourceName=gpu",
        "log.level=loud",
        "resources.demon.limits.cpu=1",
        "metrics.port=80",
        "metrics.podMonitor.interval=often",
        "metrics.monitor.enabled=true",
        "web.enabled=true",
        "web.port=80",
        "web.token=secret",
        "ceilings.node.memory=8Gi",
        "ceilings.node.compute_percent=0",
        "ceilings.namespaces.Team_A.priority=high",
        "ceilings.team.priority=high",
        "annotationPolicy.actions[0]=Allow",
        "annotationPolicy.serviceAccounts[0]=runner",
    ],
)
def test_a_slip_of_the_pen_is_found(wrong: str) -> None:
    name, _, value = wrong.partition("=")
    with pytest.raises(RuntimeError, match="schema"):
        render({name: value})


def test_a_setting_that_was_removed_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(RuntimeError, match="idle_grace is not a setting any more: a program"):
        render({"settings.idle_grace": "1"})


@pytest.mark.parametrize("monitor", ["podMonitor", "serviceMonitor"])
def test_there_is_no_monitor_without_metrics(monitor: str) -> None:
    values = {f"metrics.{monitor}.enabled": "true"}
    assert monitor.lower() in render(values).lower()
    with pytest.raises(RuntimeError, match=f"/metrics/{monitor}/enabled': value must be false"):
        render({**values, "metrics.enabled": "false"})


def test_metrics_are_one_port_of_the_daemon_and_can_be_turned_off() -> None:
    def ports(text: str) -> dict[str, Any]:
        containers = daemonset(text)["spec"]["template"]["spec"]["containers"]
        return {one["name"]: one["ports"] for one in containers if "ports" in one}

    kinds = {thing["kind"] for thing in things(render())}
    assert not kinds & {"Service", "PodMonitor", "ServiceMonitor"}
    text = render({"metrics.port": "1234"})
    assert ports(text) == {"daemon": [{"name": "metrics", "containerPort": 1234}]}
    assert 'metrics_address = ":1234"' in text
    silent = render({"metrics.enabled": "false"})
    assert ports(silent) == {}
    assert "metrics" not in silent


WEB = {"web.enabled": "true", "web.tokenSecret": "nvshare-web"}


def web_container(text: str) -> dict[str, Any]:
    containers = daemonset(text)["spec"]["template"]["spec"]["containers"]
    (found,) = [one for one in containers if one["name"] == "web"]
    return found  # type: ignore[no-any-return]


def test_the_page_may_look_and_nothing_else() -> None:
    web = web_container(render(WEB))
    assert "--read-only" in web["args"]
    # Not root: the control socket for changes does not let it in.
    context = web["securityContext"]
    assert (context["runAsUser"], context["runAsNonRoot"]) == (65534, True)
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert {one["name"]: one["mountPath"] for one in web["volumeMounts"] if one["readOnly"]} == {
        "control": "/run/nvshare-control",
        "web-token": "/run/nvshare-token",
        "no-account": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    changing = web_container(render({**WEB, "web.changes": "true"}))
    assert "--read-only" not in changing["args"]
    assert changing["securityContext"]["runAsUser"] == 0


def test_the_page_is_off_and_asks_nothing_of_the_cluster_when_it_is_on() -> None:
    def rules(text: str) -> list[Any]:
        return [
            thing["rules"] for thing in things(text) if "Role" in thing["kind"] and "rules" in thing
        ]

    assert "web" not in render()
    assert rules(render(WEB)) == rules(render())
    services = {
        one["metadata"]["name"]: one for one in things(render(WEB)) if one["kind"] == "Service"
    }
    assert set(services) == {"nvshare-web", "nvshare-web-nodes"}
    assert services["nvshare-web-nodes"]["spec"]["clusterIP"] == "None"
    assert "--peers=nvshare-web-nodes.nvshare.svc:9465" in web_container(render(WEB))["args"]


VARIANTS: dict[str, dict[str, str]] = {
    "default": {},
    "emulated": {"emulated.enabled": "true"},
    "everything": {
        "devices": "cdi",
        "preload": "file",
        "hami": "true",
        "oversubscriptionRatio": "1.5",
        "runtimeClassName": "nvidia",
        "settings.mode": "serial",
        "settings.turn_seconds": "60",
        "settings.allocation": "auto",
        "nodeSelector.pool": "gpu",
        "podLabels.team": "a",
        "podAnnotations.team": "a",
        "imagePullSecrets[0].name": "login",
        "image.tag": "edge",
    },
    "web": {**WEB, "web.changes": "true", "web.hosts[0]": "gpus.example.com"},
    "silent": {"metrics.enabled": "false"},
    "bounded": {
        "ceilings.node.memory_limit": "8Gi",
        "ceilings.namespaces.research.memory_limit": "none",
        "annotationPolicy.enabled": "true",
        "annotationPolicy.groups[0]": "gpu-admins",
        "annotationPolicy.serviceAccounts[0].namespace": "pipelines",
        "annotationPolicy.serviceAccounts[0].name": "runner",
        "annotationPolicy.actions": "{Warn,Audit}",
    },
    "blind": {"cgroupFolder": ""},
    "named": {"resourceName": "nvidia.com/gpu", "priorityClassName": ""},
}


@pytest.mark.parametrize("values", VARIANTS.values(), ids=VARIANTS)
def test_the_api_server_takes_every_variant(
    cluster: Cluster, tmp_path: Path, values: dict[str, str]
) -> None:
    lab = Lab(cluster)
    text = render({**values, "namespace.create": "false"})
    path = tmp_path / "manifest.yaml"
    path.write_text(text.replace("namespace: nvshare", "namespace: default"))
    lab.kubectl("apply", "--validate=strict", "--dry-run=server", "-f", str(path))


def test_ceilings_are_what_the_daemon_reads() -> None:
    text = render(
        {
            "ceilings.node.compute_percent": "50",
            "ceilings.node.allocation": "{managed,auto}",
            "ceilings.namespaces.research.priority": "high",
        }
    )
    (config,) = [one for one in things(text) if one["kind"] == "ConfigMap"]
    cluster = Config.model_validate(tomllib.loads(config["data"]["config.toml"])).cluster
    node = Ceiling(compute_percent=50, allocation=("managed", "auto"))
    assert cluster.ceiling == node
    assert cluster.all_ceilings().of("research") == Ceiling(
        compute_percent=50, allocation=("managed", "auto"), priority="high"
    )


def test_a_policy_names_accounts_as_the_api_server_does_and_needs_one_that_knows_it() -> None:
    text = render(VARIANTS["bounded"])
    assert '"system:serviceaccount:pipelines:runner"' in text
    assert '"gpu-admins"' in text
    with pytest.raises(RuntimeError, match=r"annotationPolicy needs Kubernetes 1\.30"):
        render(VARIANTS["bounded"], "--kube-version=1.29.0")


def test_every_value_is_in_the_manual() -> None:
    manual = (CHART.parents[2] / "docs" / "kubernetes.md").read_text()
    known = yaml.safe_load((CHART / "values.yaml").read_text())
    missing = [name for name in known if f"`{name}" not in manual]
    assert missing == []


@pytest.mark.parametrize(("given", "expected"), [("4096Mi", "4608Mi"), ("32Gi", "33280Mi")])
def test_the_daemon_has_as_much_memory_as_it_may_make_for_programs(
    given: str, expected: str
) -> None:
    text = render({"hostMemory": given})
    (config,) = [one for one in things(text) if one["kind"] == "ConfigMap"]
    assert f'host_memory = "{given}"' in config["data"]["config.toml"]
    daemon, plugin = daemonset(text)["spec"]["template"]["spec"]["containers"]
    assert daemon["resources"] == {
        "requests": {"cpu": "20m", "memory": expected},
        "limits": {"memory": expected},
    }
    assert plugin["resources"]["limits"] == {"memory": "256Mi"}


def test_without_a_word_host_memory_is_as_the_daemon_finds_it() -> None:
    text = render()
    assert "host_memory" not in text
    daemon, _ = daemonset(text)["spec"]["template"]["spec"]["containers"]
    assert daemon["resources"]["limits"] == {"memory": "512Mi"}
