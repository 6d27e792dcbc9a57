"""Limits from annotations: at the start of a pod, and while it runs."""

import time

from nvshare.settings import ClientLimits

from .lab import Lab
from .watcher import watching

GIB = 1 << 30
MEMORY, CORE, PRIORITY = (
    f"nvshare.com/gpu-{name}" for name in ("memory-limit", "core-limit", "priority")
)
# The longest permitted time between the return of kubectl and the new value in the program.
SOON_NS = 1_000_000_000


def seen(lab: Lab, pod: str, container: str = "main") -> list[tuple[int, int]]:
    """Return the sizes of the program's GPU over time: nanoseconds and bytes."""
    lines = lab.logs(pod, "-c", container).splitlines()
    words = [line.split() for line in lines if line[0].isdigit()]
    return [(int(when), int(size)) for when, size in words]


def annotate(lab: Lab, pod: str, *changes: str) -> int:
    """Annotate a pod; return when kubectl returned."""
    lab.kubectl("annotate", "pod", pod, "--overwrite", *changes)
    return time.monotonic_ns()


def until_size(lab: Lab, pod: str, size: int, container: str = "main") -> int:
    """Wait until a program has seen that its GPU has this size; return when that was."""
    last: list[tuple[int, int]] = []

    def look() -> bool:
        last[:] = seen(lab, pod, container)[-1:]
        return [one[1] for one in last] == [size]

    lab.until(look, f"{size} bytes")
    return last[0][0]


def test_a_pod_is_limited_from_its_start(lab: Lab) -> None:
    lab.start_pod(
        "limited", "watch-limit", annotations={MEMORY: "4Gi", CORE: "40", PRIORITY: "high"}
    )
    client = lab.until_client("limited")
    assert client.limits == ClientLimits(memory_limit=4 * GIB, compute_percent=40, priority="high")
    until_size(lab, "limited", 4 * GIB)


def test_annotations_of_a_running_pod_take_effect_within_a_second(lab: Lab) -> None:
    lab.start_pod("trainer", "watch-limit")
    lab.until_client("trainer")
    whole = lab.status().devices[0].memory
    until_size(lab, "trainer", whole)
    delays = []
    for size in (4, 2, 6):
        back = annotate(lab, "trainer", f"{MEMORY}={size}Gi")
        delays.append(until_size(lab, "trainer", size * GIB) - back)
    print("memory, ms from kubectl to the program:", [delay / 1e6 for delay in delays])
    assert max(delays) < SOON_NS

    with watching(lab, "one.limits.compute_percent == 30", "trainer") as sighting:
        back = annotate(lab, "trainer", f"{CORE}=30")
    print("compute, ms from kubectl to the daemon:", (sighting["trainer"].when - back) / 1e6)
    assert sighting["trainer"].when - back < SOON_NS
    client = lab.until_client("trainer")
    assert client.limits == ClientLimits(memory_limit=6 * GIB, compute_percent=30)

    with watching(lab, "one.limits.compute_percent is None", "trainer") as sighting:
        back = annotate(lab, "trainer", f"{MEMORY}-", f"{CORE}-")
    assert sighting["trainer"].when - back < SOON_NS
    assert until_size(lab, "trainer", whole) - back < SOON_NS
    assert lab.until_client("trainer").limits == ClientLimits()


def test_a_share_holds_a_running_program_back_within_a_second(lab: Lab) -> None:
    lab.start_pod("greedy", "driver-add", "pytorch-add-small", "--iterations", "10000000")
    lab.until_client("greedy", lambda one: one.busy_seconds > 1)
    with watching(lab, "one.throttled_seconds > 0", "greedy") as sighting:
        back = annotate(lab, "greedy", f"{CORE}=30")
    print(
        "compute, ms from kubectl to a program held back:", (sighting["greedy"].when - back) / 1e6
    )
    assert sighting["greedy"].when - back < SOON_NS
    # Roughly: the precision of shares is measured without a cluster around it.
    lab.until_client("greedy", lambda one: one.share == 30 and 20 < one.used_percent[10] < 40)


def test_a_container_has_its_own_limit(lab: Lab) -> None:
    both = [
        {
            "name": name,
            "image": "workload:1",
            "imagePullPolicy": "Never",
            "command": ["watch-limit"],
            "resources": {"limits": {"nvshare.com/gpu": "1"}},
        }
        for name in ("main", "side")
    ]
    lab.create_pod("couple", both, {MEMORY: "4Gi", f"{MEMORY}.side": "1Gi"})
    lab.until(
        lambda: (
            {
                one.container_name: one.limits.memory_limit
                for one in lab.status().clients
                if one.pod_name == "default/couple"
            }
            == {"main": 4 * GIB, "side": 1 * GIB}
        ),
        "both limits",
    )
    until_size(lab, "couple", 1 * GIB, "side")


def test_a_bad_annotation_changes_nothing_and_is_an_event_of_the_pod(lab: Lab) -> None:
    lab.start_pod("sloppy", "watch-limit", annotations={MEMORY: "4Gi"})
    until_size(lab, "sloppy", 4 * GIB)
    annotate(lab, "sloppy", f"{MEMORY}=4GB", f"{CORE}=150")
    told = [f'{MEMORY}: "4GB" changes nothing', f'{CORE}: "150" changes nothing']

    def messages() -> list[str]:
        events = [one for one in lab.events("sloppy") if one["reason"] == "BadGpuAnnotation"]
        assert all(one["type"] == "Warning" for one in events)
        return sorted(str(one["message"]) for one in events)

    lab.until(lambda: len(messages()) == 2, "two events")
    assert all(text in message for text, message in zip(sorted(told), messages(), strict=True))
    client = lab.until_client("sloppy")
    assert client.limits == ClientLimits(memory_limit=4 * GIB)
    assert [size for _, size in seen(lab, "sloppy")][-1] == 4 * GIB


def test_what_a_pod_asks_for_is_not_changed_by_hand(lab: Lab) -> None:
    lab.start_pod("fixed", "watch-limit", annotations={MEMORY: "4Gi"})
    client = lab.until_client("fixed", lambda one: one.limits.memory_limit is not None)
    name = lab.system_pod()["metadata"]["name"]
    done = lab.cluster.run_kubectl(
        *("exec", "-n", "nvshare", name, "-c", "daemon", "--"),
        *("nvshare", "limit", f"id:{client.id}", "--memory", "1Gi"),
    )
    assert done.returncode == 2
    assert "memory_limit of this program is set by an annotation of its pod" in done.stderr


def test_a_pod_says_how_its_memory_is_allocated_and_a_change_is_for_the_next_process(
    lab: Lab,
) -> None:
    allocation = "nvshare.com/gpu-allocation"
    lab.start_pod("explicit", "watch-limit", annotations={allocation: "explicit"})
    client = lab.until_client("explicit")
    assert (client.allocation, client.allocation_because) == ("explicit", "its pod")
    annotate(lab, "explicit", f"{allocation}=native")
    client = lab.until_client("explicit", lambda one: one.allocation_next == "native")
    assert client.allocation == "explicit"
