"""``make test-k8s``: a cluster of one node, tests on it, and nothing of it left afterwards.

    python -m tests.kubernetes.run [ARGUMENTS OF PYTEST]

Needs root, Linux, Go and the packages below. The cluster has namespaces of its own: its processes,
mounts and addresses are not seen outside and end with it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from tests.kubernetes.cluster.images import all_archives
from tests.kubernetes.cluster.leftovers import Leftovers
from tools.binaries import helm, kubernetes

# Programs, and the Debian packages that they are in.
_NEEDED = {
    "containerd": "containerd",
    "runc": "runc",
    "etcd": "etcd-server",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "openssl": "openssl",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
}


def main() -> int:
    """Prepare what needs the network, then run the tests in namespaces of their own."""
    if os.getuid() != 0:
        print("test-k8s starts a node of a cluster, and only root can do that", file=sys.stderr)
        return 1
    _install()
    prepared = {
        "TEST_K8S_KUBERNETES": str(kubernetes()),
        "TEST_K8S_HELM": str(helm()),
        "TEST_K8S_IMAGES": ":".join(map(str, all_archives())),
    }
    # Whoever wants us to end wants the cluster to end, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    leftovers, code = Leftovers(), 1
    try:
        with tempfile.TemporaryDirectory(prefix="nvshare-k8s-") as folder:
            code = _test({**prepared, "TEST_K8S_FOLDER": folder})
    finally:
        code = leftovers.clear() or code
    return code


def _test(environment: dict[str, str]) -> int:
    return subprocess.run(
        [
            *("/usr/bin/unshare", "--mount", "--net", "--pid", "--ipc", "--uts"),
            *("--fork", "--kill-child", "--mount-proc", "--propagation=private"),
            *(sys.executable, "-m", "tests.kubernetes.cluster.init"),
            *("tests/kubernetes", "--timeout=600", *sys.argv[1:]),
        ],
        env={**os.environ, **environment},
    ).returncode


def _install() -> None:
    missing = [package for name, package in _NEEDED.items() if shutil.which(name) is None]
    if missing:
        print(f"installing {' '.join(missing)}", flush=True)
        subprocess.run(
            ["/usr/bin/apt-get", "install", "--yes", "--no-install-recommends", *missing],
            check=True,
            stdout=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    sys.exit(main())
