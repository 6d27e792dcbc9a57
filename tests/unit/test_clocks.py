"""No decision depends on the time of day: a person, or NTP, may set it at any moment.

The monotonic clock says how long something lasts and when it is due. The time of day is for people.
A test cannot set the clock of its machine, so this one looks for the files that read it.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

_PYTHON = re.compile(r"\btime\.time(_ns)?\(|datetime\.(now|utcnow|today)\(|\.created\b")
_NATIVE = re.compile(
    r"CLOCK_REALTIME|gettimeofday|\btime\(NULL\)|pthread_timedjoin_np\(|sem_timedwait\("
)
# The files that read it, and why.
ALLOWED = {
    "src/nvshare/daemon/logs.py",  # times of lines; how many of them, whichever way it goes
    "src/nvshare/daemon/api/traces.py",  # when a recording began, for its reader
    "src/nvshare/kubernetes/follow.py",  # when an event on a pod happened
    "src/nvshare/cli/doctor_gpu.py",  # when a report was made
    "lab/emulator/nvml/utilization.c",  # NVML's samples have times of day
}


def readers() -> set[str]:
    found = set()
    for folder, endings, pattern in (
        ("src/nvshare", (".py",), _PYTHON),
        ("native", (".c", ".h", ".def"), _NATIVE),
        ("lab", (".c", ".h", ".def"), _NATIVE),
    ):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in endings or "tests" in path.parts:
                continue
            if pattern.search(path.read_text(encoding="utf-8")):
                found.add(str(path.relative_to(ROOT)))
    return found


def test_only_what_is_for_people_reads_the_time_of_day() -> None:
    assert readers() == ALLOWED
