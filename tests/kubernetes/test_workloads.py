"""Real programs in pods, under the interposer that is injected into them."""

import json
from collections import Counter

from .lab import Lab
from .watcher import watching

WARNING = (
    "nvshare: warning: the programs of this image do not use glibc: they run without sharing their "
    "GPU"
)


def add(name: str, iterations: int) -> tuple[str, ...]:
    return ("driver-add", name, "--iterations", str(iterations))


def result(lab: Lab, pod: str) -> dict[str, float]:
    """Wait for the end of a workload; return its report."""
    lab.until_phase(pod, "Succeeded", "Failed", seconds=240)
    output = lab.logs(pod)
    assert lab.phase(pod) == "Succeeded", output
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    values: dict[str, float] = json.loads(line)
    return values


def test_programs_that_fit_together_are_never_moved(lab: Lab) -> None:
    before = {gpu.uuid: gpu.turn_changes for gpu in lab.status().devices}
    names = [f"small-{number}" for number in range(4)]
    for name in names:
        lab.start_pod(name, *add("pytorch-add-small", 20000))
    clients = [lab.until_client(name, lambda one: one.allocated > 0) for name in names]
    assert [(one.moved_out, one.moved_in) for one in clients] == [(0, 0)] * 4
    for name in names:
        assert result(lab, name)["iterations"] == 20000
    # They compute all the time, and so may have had slices. They had no turns for memory.
    assert {gpu.uuid: gpu.turn_changes for gpu in lab.status().devices} == before


def test_programs_that_do_not_fit_together_take_turns_and_end(lab: Lab) -> None:
    lab.in_daemon("nvshare", "set", "turn=1")
    names = [f"large-{number}" for number in range(4)]
    with watching(lab, "one.turns >= 2 and one.moved_out > 8 << 30", *names) as sightings:
        for name in names:
            lab.start_pod(name, *add("pytorch-add", 5000))
        for name in names:
            assert result(lab, name)["iterations"] == 5000
    assert sorted(Counter(one.device for one in sightings.values()).values()) == [2, 2]
    lab.in_daemon("nvshare", "set", "turn=auto")


def test_any_user_may_share(lab: Lab) -> None:
    lab.start_pod(
        "user",
        *add("pytorch-add-small", 2000),
        securityContext={"runAsUser": 1234, "runAsGroup": 1234, "runAsNonRoot": True},
    )
    assert result(lab, "user")["iterations"] == 2000


def test_a_program_over_its_limit_is_refused_memory(lab: Lab) -> None:
    lab.start_pod(
        "tight",
        *add("pytorch-add-small", 10),
        annotations={"nvshare.com/gpu-memory-limit": "1Gi"},
    )
    lab.until_phase("tight", "Failed")
    assert "OUT_OF_MEMORY" in lab.logs("tight")


def test_an_image_without_glibc_runs_and_says_that_it_does_not_share(lab: Lab) -> None:
    lab.start_pod("musl", image="musl:1")
    lab.until_phase("musl", "Succeeded", "Failed")
    assert lab.phase("musl") == "Succeeded", lab.logs("musl")
    assert sorted(lab.logs("musl").splitlines()) == [
        WARNING,
        "the program runs",
    ]
