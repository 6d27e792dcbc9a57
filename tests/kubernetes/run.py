"""``make test-k8s``: tests on a cluster of one node, which is removed completely afterwards.

    python -m tests.kubernetes.run [--where-possible] [ARGUMENTS OF PYTEST]

Needs root. It installs its other requirements, or compiles and keeps them. The cluster has
namespaces of its own: its processes, mounts and addresses are not seen outside and end with it.

It is an error if no cluster can be started. With --where-possible every test is skipped instead,
and pytest says so and why.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.again import judged, remembering
from tests.kubernetes import prometheus
from tests.kubernetes.cluster.images import all_archives
from tests.kubernetes.cluster.leftovers import Leftovers
from tests.kubernetes.machine import install, obstacles
from tools.binaries import helm, kubernetes

_WHERE_POSSIBLE = "--where-possible"
_NOTES = Path(".pytest_cache/kubernetes")


def main() -> int:
    """Do all work that needs the network, then run the tests in namespaces of their own."""
    arguments = [word for word in sys.argv[1:] if word != _WHERE_POSSIBLE]
    if found := "; ".join(obstacles()):
        print(f"The cluster tests are NOT run: {found}.", file=sys.stderr, flush=True)
        return _skip(found, arguments) if _WHERE_POSSIBLE in sys.argv else 1
    install()
    helm()
    prometheus.package()
    prepared = {
        "TEST_K8S_KUBERNETES": str(kubernetes()),
        "TEST_K8S_IMAGES": ":".join(map(str, all_archives())),
    }
    # SIGTERM has to end the cluster, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    leftovers, code = Leftovers(), 1
    try:
        options = [*remembering(_NOTES), *arguments]
        code = _test(prepared, ["tests/kubernetes", *options])
        code = judged([(code, _NOTES)], lambda failed: _test(prepared, failed))
    finally:
        code = leftovers.clear() or code
    return code


def _skip(why: str, arguments: list[str]) -> int:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "tests/kubernetes", "-rs", *arguments],
        env={**os.environ, "TEST_K8S_OBSTACLE": why},
    ).returncode


def _test(prepared: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Run pytest on a new cluster."""
    with tempfile.TemporaryDirectory(prefix="nvshare-k8s-") as folder:
        return subprocess.run(
            [
                *("/usr/bin/unshare", "--mount", "--net", "--pid", "--ipc", "--uts"),
                *("--fork", "--kill-child", "--mount-proc", "--propagation=private"),
                *(sys.executable, "-m", "tests.kubernetes.cluster.init"),
                *("--timeout=600", *arguments),
            ],
            env={**os.environ, **prepared, "TEST_K8S_FOLDER": folder},
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
