"""A real cluster of one node: etcd, the control plane, containerd and kubelet, as plain processes.

It expects to be in namespaces of its own (init.py): it takes addresses, mounts file systems, and
leaves it to the kernel to clear all of that away.
"""

import json
import re
import secrets
import subprocess
from pathlib import Path

from .certificates import Authority, Pair
from .images import PAUSE
from .processes import Process, Processes, until

NAME = "worker-1"
# The node, the API server, and the service `kubernetes` that pods know it by, are all at the first
# address of the services: so nothing has to be forwarded, and there is no kube-proxy.
ADDRESS = "10.213.7.1"
_SERVICES = "10.213.7.0/28"
_BRIDGE = "nvshare0"
CGROUP = "nvshare-test-k8s"
# Where CDI devices are described.
CDI = Path("/run/cdi")

_USERS = {
    "admin": ("admin", "system:masters"),
    "kubelet": (f"system:node:{NAME}", "system:nodes"),
    "scheduler": ("system:kube-scheduler", ""),
    "controllers": ("system:kube-controller-manager", ""),
}


class Cluster:
    """A cluster from start to end."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        (folder / "logs").mkdir()
        self.processes = Processes(folder / "logs")
        self._authority = Authority(folder / "pki")
        self._tokens = {name: secrets.token_hex(16) for name in _USERS}

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of an administrator."""
        return self._folder / "admin.kubeconfig"

    @property
    def kubectl(self) -> Path:
        """The path of kubectl."""
        return self._binaries / "kubectl"

    def start(self, images: list[Path]) -> None:
        """Start everything, and wait until the node is ready."""
        self._write_configs()
        self._start_control_plane()
        self._start_containerd(images)
        self._start_kubelet()

    def stop(self) -> None:
        """End everything."""
        self.processes.kill_all()

    def process(self, name: str) -> Process:
        """Return one of the servers."""
        return self.processes.by_name[name]

    def is_ready(self) -> bool:
        """Whether the node is ready."""
        done = self.run_kubectl("get", "node", NAME, "-o", "json")
        if done.returncode != 0:
            return False
        conditions = json.loads(done.stdout)["status"].get("conditions", [])
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    @property
    def kubectl_command(self) -> list[str]:
        """The words that kubectl is started with as an administrator."""
        return [str(self.kubectl), f"--kubeconfig={self.kubeconfig}"]

    def run_kubectl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run kubectl as an administrator."""
        return subprocess.run(
            [*self.kubectl_command, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def _write_configs(self) -> None:
        pki = self._folder / "pki"
        self._server = self._authority.sign("apiserver", "/CN=kube-apiserver", ADDRESS)
        self._caller = self._authority.sign("caller", "/O=system:masters/CN=apiserver")
        self._kubelet = self._authority.sign("kubelet", "/CN=kubelet", ADDRESS)
        self._accounts: Pair = self._authority.sign("accounts", "/CN=accounts")
        lines = [
            f'{self._tokens[key]},{user},{key},"{groups}"' for key, (user, groups) in _USERS.items()
        ]
        (pki / "tokens.csv").write_text("\n".join(lines) + "\n")
        for name in _USERS:
            path = self._folder / f"{name}.kubeconfig"
            path.write_text(json.dumps(self._kubeconfig(name)))

    def _kubeconfig(self, name: str) -> dict[str, object]:
        cluster = {
            "server": f"https://{ADDRESS}:443",
            "certificate-authority": str(self._authority.own.certificate),
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": self._tokens[name]}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": name}}],
            "current-context": "c",
        }

    def _start_control_plane(self) -> None:
        subprocess.run(["/sbin/ip", "link", "add", _BRIDGE, "type", "bridge"], check=True)
        subprocess.run(["/sbin/ip", "address", "add", f"{ADDRESS}/24", "dev", _BRIDGE], check=True)
        subprocess.run(["/sbin/ip", "link", "set", _BRIDGE, "up"], check=True)
        pki = self._folder / "pki"
        self.processes.start(
            "etcd",
            *("/usr/bin/etcd", f"--data-dir={self._folder / 'etcd'}"),
            *("--listen-client-urls=http://127.0.0.1:2379", "--unsafe-no-fsync"),
            *("--advertise-client-urls=http://127.0.0.1:2379", "--logger=zap"),
            "--listen-peer-urls=http://127.0.0.1:2380",
        )
        self.processes.start(
            "apiserver",
            *(self._binaries / "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379"),
            *(f"--bind-address={ADDRESS}", f"--advertise-address={ADDRESS}", "--secure-port=443"),
            f"--service-cluster-ip-range={_SERVICES}",
            f"--tls-cert-file={self._server.certificate}",
            f"--tls-private-key-file={self._server.key}",
            f"--client-ca-file={self._authority.own.certificate}",
            f"--token-auth-file={pki / 'tokens.csv'}",
            f"--kubelet-client-certificate={self._caller.certificate}",
            f"--kubelet-client-key={self._caller.key}",
            f"--kubelet-certificate-authority={self._authority.own.certificate}",
            "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._accounts.certificate}",
            f"--service-account-signing-key-file={self._accounts.key}",
            *("--authorization-mode=Node,RBAC", "--allow-privileged=true"),
            "--enable-admission-plugins=NodeRestriction",
        )
        until(self._is_serving, "the API server", check=self.processes.check)
        self.processes.start(
            "controllers",
            self._binaries / "kube-controller-manager",
            f"--kubeconfig={self._folder / 'controllers.kubeconfig'}",
            f"--service-account-private-key-file={self._accounts.key}",
            f"--root-ca-file={self._authority.own.certificate}",
            "--use-service-account-credentials=true",
            *("--bind-address=127.0.0.1", "--leader-elect=false"),
        )
        self.processes.start(
            "scheduler",
            self._binaries / "kube-scheduler",
            f"--kubeconfig={self._folder / 'scheduler.kubeconfig'}",
            *("--bind-address=127.0.0.1", "--leader-elect=false"),
        )

    def _is_serving(self) -> bool:
        return self.run_kubectl("get", "--raw=/readyz").returncode == 0

    def _start_containerd(self, images: list[Path]) -> None:
        folder = self._folder / "containerd"
        (folder / "cni").mkdir(parents=True)
        (folder / "cni" / "10-bridge.conflist").write_text(json.dumps(_network(folder)))
        socket = "/run/containerd.sock"
        (folder / "config.toml").write_text(_containerd_config(folder, socket))
        self.processes.start(
            "containerd", "/usr/bin/containerd", "--config", folder / "config.toml"
        )
        self.ctr = ["/usr/bin/ctr", f"--address={socket}", "--namespace=k8s.io"]
        until(
            lambda: subprocess.run([*self.ctr, "version"], capture_output=True).returncode == 0,
            "containerd",
            check=self.processes.check,
        )
        for image in images:
            subprocess.run(
                [*self.ctr, "images", "import", str(image)], check=True, capture_output=True
            )

    def _start_kubelet(self) -> None:
        config = self._folder / "kubelet.json"
        config.write_text(json.dumps(self._kubelet_config()))
        self.processes.start(
            "kubelet",
            *(self._binaries / "kubelet", f"--config={config}"),
            *(f"--hostname-override={NAME}", f"--node-ip={ADDRESS}"),
            f"--kubeconfig={self._folder / 'kubelet.kubeconfig'}",
            # As it starts, it reads a map that another thread writes to (GetCapacity of its
            # container manager, in 1.34), and sometimes ends by that.
            restarts=2,
        )
        until(self.is_ready, "the node", check=self.processes.check)

    def _kubelet_config(self) -> dict[str, object]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": ADDRESS,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(self._authority.own.certificate)},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "tlsCertFile": str(self._kubelet.certificate),
            "tlsPrivateKeyFile": str(self._kubelet.key),
            "containerRuntimeEndpoint": "unix:///run/containerd.sock",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{CGROUP}",
            "failSwapOn": False,
            "failCgroupV1": False,
            # A machine for tests may not lower these.
            "oomScoreAdj": 0,
            "protectKernelDefaults": False,
            "makeIPTablesUtilChains": False,
            "resolvConf": "",
            "healthzBindAddress": "127.0.0.1",
            # How soon the cluster learns of GPUs that come and go.
            "nodeStatusUpdateFrequency": "1s",
            "evictionHard": {"memory.available": "10Mi"},
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
        }


def knows_cdi() -> bool:
    """Whether the containerd of this machine does: those before 1.7 do not."""
    command = ["/usr/bin/containerd", "--version"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r" v?(\d+)\.(\d+)\.", text)
    if match is None:
        raise RuntimeError(f"containerd does not tell its version: {text}")
    return (int(match[1]), int(match[2])) >= (1, 7)


def _network(folder: Path) -> dict[str, object]:
    bridge = {
        "type": "bridge",
        "bridge": _BRIDGE,
        "ipam": {
            "type": "host-local",
            "dataDir": str(folder / "ipam"),
            "ranges": [[{"subnet": "10.213.7.0/24", "rangeStart": "10.213.7.20"}]],
            "routes": [{"dst": "0.0.0.0/0", "gw": ADDRESS}],
        },
    }
    return {"cniVersion": "0.4.0", "name": "nvshare-test", "plugins": [bridge]}


def _containerd_config(folder: Path, socket: str) -> str:
    return f"""\
version = 2
root = "{folder}/root"
state = "/run/containerd"
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  # Where it is too old to know these, it takes no notice.
  enable_cdi = true
  cdi_spec_dirs = ["{CDI}"]
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
"""
