"""The cluster, through kubectl: with its login, its context and its permissions."""

import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nvshare.errors import NvshareError
from nvshare.telemetry.snapshot import NodeStatus

_SELECTOR = "app.kubernetes.io/name=nvshare"
_AT_ONCE = 16
_SECONDS = 60.0


@dataclass(frozen=True)
class NodeView:
    """A node with nvshare: its daemon's snapshot, or the reason why there is none."""

    name: str
    status: NodeStatus | None
    problem: str = ""


class Cluster:
    """Runs kubectl."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = list(options)

    def nodes(self, wanted: str | None = None) -> list[NodeView]:
        """Ask the daemons of all nodes, or of one."""
        listed = json.loads(self.run("get", "pods", "-A", "-l", _SELECTOR, "-o", "json"))
        pods = [
            (pod["spec"]["nodeName"], pod["metadata"]["namespace"], pod["metadata"]["name"])
            for pod in listed["items"]
            if pod["spec"].get("nodeName") and wanted in (None, pod["spec"]["nodeName"])
        ]
        if not pods:
            raise NvshareError(
                "nvshare runs on no node"
                if wanted is None
                else f"nvshare does not run on {wanted}",
                why=f"there is no pod with the label {_SELECTOR}",
                do="install it (docs/kubernetes.md), or check with `kubectl get daemonsets -A`",
            )
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda pod: self._ask(*pod), sorted(pods)))

    def run(self, *arguments: str) -> str:
        """Run kubectl; return what it prints."""
        try:
            done = subprocess.run(
                ["kubectl", *self._options, *arguments],  # noqa: S607 (the one of the person)
                capture_output=True,
                text=True,
                timeout=_SECONDS,
            )
        except FileNotFoundError as error:
            raise NvshareError(
                "kubectl cannot be found", do="install it, and put it into PATH"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise NvshareError(
                "kubectl does not answer",
                why=f"it has not answered in {_SECONDS:.0f} seconds",
                do="check that the cluster can be reached, with `kubectl cluster-info`",
            ) from error
        if done.returncode != 0:
            raise NvshareError("kubectl has failed", why=done.stderr.strip() or "it says nothing")
        return done.stdout

    def _ask(self, node: str, namespace: str, pod: str) -> NodeView:
        try:
            command = ("nvshare", "status", "--json")
            text = self.run("exec", "-n", namespace, pod, "-c", "daemon", "--", *command)
        except NvshareError as error:
            return NodeView(node, None, error.why or error.what)
        return NodeView(node, NodeStatus.model_validate_json(text))
