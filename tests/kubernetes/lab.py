"""The cluster as a person uses it: through kubectl, and through the commands of nvshare."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

from .cluster.node import NAME, Cluster
from .cluster.processes import until

RESOURCE = "nvshare.com/gpu"
NAMESPACE = "default"


class KubectlError(Exception):
    """kubectl has failed."""


@dataclass
class Lab:
    """A cluster that nvshare is installed on."""

    cluster: Cluster
    created: list[str] = field(default_factory=list)
    # The emulated node: its folder is the same in the cluster's containers and here.
    emulated: Path = Path("/run/nvshare-emulator") / NAME

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl; it has to succeed."""
        done = self.cluster.run_kubectl(*arguments)
        if done.returncode != 0:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def get(self, *arguments: str) -> Any:
        """Ask for things as JSON."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def apply(self, text: str, *options: str) -> None:
        """Apply manifests; an unknown field is an error."""
        path = self.cluster.kubeconfig.with_name("manifest.yaml")
        path.write_text(text)
        self.kubectl("apply", "--validate=strict", *options, "-f", str(path))

    def until(self, is_so: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        """Ask until the condition holds. While the question fails, it does not hold."""

        def look() -> bool:
            try:
                return is_so()
            except KubectlError:
                return False

        until(look, what, seconds=seconds, check=self.cluster.processes.check)

    def start_pod(
        self,
        name: str,
        *command: str,
        gpus: int | None = 1,
        image: str = "workload:1",
        annotations: Mapping[str, str] | None = None,
        limits: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> None:
        """Create a pod with one container."""
        container: dict[str, Any] = {
            "name": "main",
            "image": image,
            "imagePullPolicy": "Never",
            "resources": {"limits": {**({RESOURCE: str(gpus)} if gpus else {}), **(limits or {})}},
        }
        if command:
            container["command"] = list(command)
        self.create_pod(name, [container], annotations, **spec)

    def create_pod(
        self,
        name: str,
        containers: list[dict[str, Any]],
        annotations: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> None:
        """Create a pod."""
        self.created.append(name)
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": dict(annotations or {})},
            "spec": {
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "containers": containers,
                **spec,
            },
        }
        self.apply(json.dumps(pod))

    def phase(self, name: str) -> str:
        """Return the phase of a pod."""
        return str(self.get("pod", name)["status"].get("phase"))

    def until_phase(self, name: str, *phases: str, seconds: float = 120.0) -> None:
        """Wait until a pod is in one of these phases."""
        self.until(lambda: self.phase(name) in phases, f"pod {name} {' or '.join(phases)}", seconds)

    def delete_pods(self) -> None:
        """Delete all pods that were created, and wait until they are gone."""
        if self.created:
            self.kubectl("delete", "pod", "--ignore-not-found", "--wait=true", *self.created)
        self.created.clear()

    def logs(self, name: str, *options: str) -> str:
        """Return the logs of a pod."""
        return self.kubectl("logs", name, *options)

    def gpus_of(self, name: str) -> list[str]:
        """Return the UUIDs of the GPUs that a running pod sees."""
        text = self.kubectl("exec", name, "-c", "main", "--", "printenv", "CUDA_VISIBLE_DEVICES")
        return text.strip().split(",")

    def system_pod(self) -> Any:
        """Return the pod of nvshare itself."""
        (pod,) = self.get("pods", "-n", "nvshare", "-l", "app.kubernetes.io/name=nvshare")["items"]
        return pod

    def container(self, name: str) -> Any:
        """Return the status of a container of nvshare."""
        statuses = self.system_pod()["status"]["containerStatuses"]
        return next(one for one in statuses if one["name"] == name)

    def kill_container(self, name: str) -> None:
        """Kill a container of nvshare; kubelet will start another."""
        number = self.container(name)["containerID"].partition("://")[2]
        subprocess.run([*self.cluster.ctr, "task", "kill", "-s", "SIGKILL", number], check=True)

    def in_daemon(self, *command: str) -> str:
        """Run a command in the daemon's container."""
        return self.kubectl(*self._exec_in_daemon(), *command)

    def command_in_daemon(self, *command: str) -> list[str]:
        """Return the words that run a command in the daemon's container."""
        return [*self.cluster.kubectl_command, *self._exec_in_daemon(), *command]

    def _exec_in_daemon(self) -> list[str]:
        name = self.system_pod()["metadata"]["name"]
        return ["exec", "-n", "nvshare", name, "-c", "daemon", "--"]

    def status(self) -> NodeStatus:
        """Ask the daemon for its status."""
        return NodeStatus.model_validate_json(self.in_daemon("nvshare", "status", "--json"))

    def client(self, pod: str) -> ClientStatus | None:
        """Return the daemon's status of the program in a pod."""
        found = [one for one in self.status().clients if one.pod_name == f"{NAMESPACE}/{pod}"]
        return found[0] if found else None

    def until_client(
        self, pod: str, is_so: Callable[[ClientStatus], bool] = lambda _: True
    ) -> ClientStatus:
        """Wait until the daemon's status of the program in a pod meets a condition."""
        last: list[ClientStatus] = []

        def look() -> bool:
            client = self.client(pod)
            last[:] = [client] if client else []
            return client is not None and is_so(client)

        self.until(look, f"the program of {pod}")
        return last[0]

    def events(self, pod: str) -> list[Any]:
        """Return the events of a pod."""
        selector = f"involvedObject.name={pod}"
        items: list[Any] = self.get("events", f"--field-selector={selector}")["items"]
        return items

    def allocatable(self) -> int:
        """Return how many virtual GPUs the node can allocate."""
        return int(self.get("node", NAME)["status"]["allocatable"].get(RESOURCE, 0))

    def until_installed(self, gpus: int) -> None:
        """Wait until nvshare is ready, and the node can allocate so many virtual GPUs."""

        def is_ready() -> bool:
            status = self.get("daemonset", "nvshare", "-n", "nvshare")
            now = status["status"]
            return bool(
                now.get("observedGeneration") == status["metadata"]["generation"]
                and now.get("updatedNumberScheduled") == now["desiredNumberScheduled"] == 1
                and now.get("numberReady") == 1
            )

        self.until(is_ready, "nvshare", 180)
        self.until(lambda: self.allocatable() == gpus, f"{gpus} virtual GPUs")
