"""kubectl nvshare, with the real kubectl."""

import json
import os
import subprocess
import sys

from .lab import Lab

GIB = 1 << 30


def nvshare(lab: Lab, *arguments: str) -> str:
    """Run the plugin as kubectl would."""
    path = f"{lab.cluster.kubectl.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nvshare.cli.kubectl", *arguments],
        env={
            **os.environ,
            "PATH": path,
            "KUBECONFIG": str(lab.cluster.kubeconfig),
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_from_status_to_limits(lab: Lab) -> None:
    lab.start_pod("trainer", "watch-limit")
    lab.until_client("trainer")
    assert "node worker-1" in nvshare(lab, "status")
    (line,) = nvshare(lab, "status", "--json").splitlines()
    assert [one["pod_name"] for one in json.loads(line)["status"]["clients"]] == ["default/trainer"]
    assert "default/trainer" in nvshare(lab, "top")
    assert nvshare(lab, "limit", "trainer", "memory=3Gi", "compute=25") == "pod/trainer annotated\n"
    client = lab.until_client("trainer", lambda one: one.limits.memory_limit == 3 * GIB)
    assert client.limits.compute_percent == 25
    nvshare(lab, "limit", "trainer", "memory=none", "compute=none")
    lab.until_client("trainer", lambda one: one.limits.memory_limit is None)
