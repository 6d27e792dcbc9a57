"""It waits because the host has too little room for memory that would have to leave the GPU."""

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.words import gib, percent


def find(case: Case) -> Finding | None:
    """Say how much there is, and why that is too little."""
    client, host = case.client, case.host
    if not client.held_up:
        return None
    return Finding(
        cause="host_memory",
        weight=max(case.part("waiting"), 0.5),
        says=f"It waited {percent(case.part('waiting'))} of the time because host memory is short "
        f"({gib(host.kept)} of at most {gib(host.limit)} GiB are kept): {client.held_up_because}.",
        helps="More host memory helps: a higher memory limit of the cgroup that is named, or "
        "`nvshare set host_memory=SIZE`; or end a program that is not needed.",
        numbers={
            "waiting": case.part("waiting"),
            "host_limit": host.limit,
            "host_kept": host.kept,
            "because": client.held_up_because,
        },
    )
