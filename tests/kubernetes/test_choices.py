"""An operator's choices: bounded oversubscription, HAMi's kind of limits, and the linker's file."""

import pytest

from nvshare.settings import ClientLimits

from .cluster.node import NAME
from .lab import Lab

MEMORY = "nvshare.com/gpu-memory-limit"
SLEEP = ("sleep", "infinity")


@pytest.fixture(scope="module")
def values() -> dict[str, str]:
    """Each GPU, of about 15 GiB, promises at most its own size."""
    return {"oversubscriptionRatio": "1.0", "hami": "true", "preload": "file"}


def outcome(lab: Lab, name: str, limit: str | None) -> str:
    """Start a pod with a limit; return the reason if it is refused, else nothing."""
    lab.start_pod(name, *SLEEP, annotations={MEMORY: limit} if limit else None)
    lab.until_phase(name, "Running", "Failed")
    return str(lab.get("pod", name)["status"].get("message", ""))


def test_a_gpu_promises_no_more_than_it_may_and_says_so(lab: Lab) -> None:
    assert outcome(lab, "a", "10Gi") == ""
    assert outcome(lab, "b", "10Gi") == ""
    refused = outcome(lab, "c", "6Gi")
    assert "nvshare: GPU 0 cannot promise another 6Gi: 10Gi of " in refused
    assert "oversubscription ratio of 1)" in refused
    assert "Lower the memory limit of this pod or of others" in refused
    # A pod that fits is admitted, and a refused pod counts for nothing.
    assert outcome(lab, "d", "4Gi") == ""
    lab.kubectl("delete", "pod", "a", "--wait=true")
    assert outcome(lab, "e", "6Gi") == ""


def test_a_pod_without_a_limit_is_promised_a_whole_gpu(lab: Lab) -> None:
    assert outcome(lab, "first", None) == ""
    assert outcome(lab, "second", "12Gi") == ""
    assert "cannot promise another 12Gi" in outcome(lab, "third", "12Gi")


def test_limits_in_the_way_of_hami(lab: Lab) -> None:
    # HAMi's scheduler takes no notice of these; ours wants the node to have them.
    lab.kubectl(
        *("patch", "node", NAME, "--subresource=status", "--type=merge"),
        '-p={"status":{"capacity":{"nvidia.com/gpumem":"64k","nvidia.com/gpucores":"1k"}}}',
    )
    lab.start_pod(
        "hami", "watch-limit", limits={"nvidia.com/gpumem": "3000", "nvidia.com/gpucores": "30"}
    )
    client = lab.until_client("hami", lambda one: one.limits.memory_limit is not None)
    assert client.limits == ClientLimits(memory_limit=3000 << 20, compute_percent=30)


def test_the_linkers_file_preloads_without_a_variable(lab: Lab) -> None:
    lab.start_pod("filed", "watch-limit", annotations={MEMORY: "2Gi"})
    lab.until_client("filed")
    environment = lab.kubectl("exec", "filed", "--", "env")
    assert "LD_PRELOAD" not in environment
    maps = lab.kubectl("exec", "filed", "--", "cat", "/proc/1/maps")
    assert "/usr/local/nvshare/libnvshare.so" in maps
