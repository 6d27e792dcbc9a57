"""Files of the interposer in programs of their own, without a driver, under the sanitizers."""

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nvshare.daemon.groups import quota_page as quota

from .conftest import Build

SANITIZERS = ["address,undefined", "thread"]
BOUND_US = 50_000
GATE = ("gate.c", "standby.c", "../common/bell.c", "../common/descriptor.c")


def run(program: Path, *arguments: object) -> str:
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_ledger_against_a_model(build: Build) -> None:
    program = build("ledger_check", "ledger.c", "account.c", "own_slot.c")
    for seed in range(20):
        run(program, "model", seed, 10_000)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_ledger_from_eight_threads(build: Build, sanitizer: str) -> None:
    run(
        build("ledger_check", "ledger.c", "account.c", "own_slot.c", sanitizer=sanitizer),
        "threads",
        8,
        20_000,
    )


def test_ledger_does_not_slow_down(build: Build) -> None:
    program = build("ledger_check", "ledger.c", "account.c", "own_slot.c", sanitizer="")
    empty, full = (
        min(float(run(program, "cost", count)) for _ in range(5)) for count in (0, 100_000)
    )
    # A list or a tree would be slower by its length or depth; ten times is room for a busy machine.
    assert full < 10 * empty


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_a_slot_in_a_group_from_eight_threads(build: Build, sanitizer: str) -> None:
    program = build("own_slot_check", "own_slot.c", "ledger.c", "account.c", sanitizer=sanitizer)
    run(program, "states")
    run(program, "threads", 8, 20_000)


def test_processes_of_a_group_never_pass_its_limit_though_some_are_killed(
    build: Build, tmp_path: Path
) -> None:
    program = build("own_slot_check", "own_slot.c", "ledger.c", "account.c", sanitizer="")
    run(program, "processes", tmp_path / "page", 6, 20_000, 40)
    run(program, "fill", tmp_path / "page", 6)
    run(program, "stopped", tmp_path / "page")


def test_the_page_of_a_group_is_laid_out_as_the_daemon_has_it(build: Build) -> None:
    layout = json.loads(
        run(build("own_slot_check", "own_slot.c", "ledger.c", "account.c"), "layout")
    )
    assert layout == {
        "magic": quota.MAGIC,
        "check": quota.CHECK,
        "size": quota.SIZE,
        "limit": 8,
        "used_slots": 24,
        "slots": quota.HEADER_SIZE,
        "slot_size": quota.SLOT_SIZE,
        "key": 0,
        "used": 8,
        "kept": 24,
        "held": 40,
    }


def test_who_waits_for_a_silent_daemon(build: Build) -> None:
    run(build("silence_check", "silence.c"))


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_gate_holds_all_threads_and_lets_all_go(build: Build, sanitizer: str) -> None:
    run(build("gate_check", *GATE, sanitizer=sanitizer), "turns", 6, 50)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_gate_states(build: Build, sanitizer: str) -> None:
    run(build("gate_check", *GATE, sanitizer=sanitizer), "states")


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_gate_opens_by_a_socket(build: Build, sanitizer: str) -> None:
    program = build("standby_check", *GATE, sanitizer=sanitizer)
    run(program, "states")
    run(program, "turns", 6, 50)
    run(program, "storm", 6, 5_000)


INSIDE = ("inside_check", "inside.c", *GATE)


@pytest.mark.parametrize("sanitizer", ["", *SANITIZERS])
def test_nobody_is_inside_when_memory_is_taken_away(build: Build, sanitizer: str) -> None:
    run(build(*INSIDE, sanitizer=sanitizer), "storm", 6, 400)


# Two threads that never sleep. Beside other tests, each would mostly wait until the other gets a
# processor, and occupy one meanwhile.
@pytest.mark.timed
def test_a_mark_is_seen_before_the_gate_counts_as_empty(build: Build) -> None:
    run(build(*INSIDE, sanitizer=""), "race", 30_000)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_who_is_inside(build: Build, sanitizer: str) -> None:
    run(build(*INSIDE, sanitizer=sanitizer), "states")


STEP = ("step_check", "inside.c", *GATE)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_a_step_lets_one_call_pass_and_is_seen_to_end(build: Build, sanitizer: str) -> None:
    run(build(*STEP, sanitizer=sanitizer), "steps", 6, 300)


@pytest.mark.parametrize("what", ["states", "left"])
def test_steps_and_threads_on_their_way(build: Build, what: str) -> None:
    run(build(*STEP), what)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_bucket(build: Build, sanitizer: str) -> None:
    program = build("bucket_check", "bucket.c", sanitizer=sanitizer)
    run(program, "states")
    run(program, "threads", 8, 10_000)


def test_a_bucket_lets_through_what_the_share_says(build: Build) -> None:
    program = build("bucket_check", "bucket.c")
    for percent, call_ms in product([1, 10, 33, 50, 90, 99], [0.01, 0.3, 9.7, 38, 400]):
        got = float(run(program, "play", percent, 100, call_ms, 600))
        # The initial balance and the last call are not made up for: less than a call, and a window.
        assert abs(got - percent) < 100 * (call_ms / 1000 + 0.05) / 600 + 0.01, (percent, call_ms)


def test_usage_against_a_model(build: Build) -> None:
    program = build("usage_check", "usage.c")
    for seed in range(10):
        run(program, "model", seed, 2_000)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_usage_from_eight_threads(build: Build, sanitizer: str) -> None:
    run(build("usage_check", "usage.c", sanitizer=sanitizer), "threads", 8, 1_000)


@pytest.fixture(scope="module")
def inflight(build: Build) -> Path:
    return build("inflight_check", "inflight.c", "usage.c")


def phases(program: Path, *pairs: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(program, BOUND_US, *pairs).splitlines()]


@pytest.mark.parametrize("cost_us", [10, 100, 1_000, 5_000, 20_000])
def test_work_in_flight_is_bounded_and_the_gpu_never_waits(inflight: Path, cost_us: int) -> None:
    (phase,) = phases(inflight, 20_000, cost_us)
    assert phase["idle_us"] == 0
    # The window grows until the bound is passed, and consists of whole kernels.
    assert phase["in_flight_us"] <= 1.2 * BOUND_US + 2 * cost_us


def test_kernels_longer_than_the_bound_are_two_in_flight(inflight: Path) -> None:
    (phase,) = phases(inflight, 1_000, 60_000)
    assert phase["idle_us"] == 0
    assert phase["part"] == 1
    assert phase["in_flight_us"] <= 2 * 60_000


def test_a_program_that_begins_with_long_kernels_does_not_run_ahead(inflight: Path) -> None:
    (phase,) = phases(inflight, 1_000, 20_000)
    assert phase["most_us"] <= 12 * 20_000


def test_short_kernels_cost_few_calls(inflight: Path) -> None:
    (phase,) = phases(inflight, 100_000, 1)
    assert phase["part"] == 128
    assert phase["calls"] < 100_000 / 128 * 5


def test_the_window_follows_the_kernels_and_is_kept(inflight: Path) -> None:
    short, long, again = phases(inflight, 50_000, 2, 6_000, 10_000, 50_000, 2)
    assert short["part"] == again["part"] == 128
    assert long["part"] == 1
    assert long["in_flight_us"] <= 1.2 * BOUND_US + 2 * 10_000


@pytest.mark.parametrize(("late_us", "lost"), [(10_000, 0.01), (60_000, 0.15)])
def test_a_thread_that_is_woken_late_keeps_more_in_flight(
    inflight: Path, late_us: int, lost: float
) -> None:
    """With a bound of 20 ms it would lose 8 % of the GPU's time, or two thirds."""
    lines = run(inflight, "late", late_us, 20_000, 20_000, 1_000).splitlines()
    late = json.loads(lines[0])
    assert late["idle_us"] <= lost * 10_000 * 1_000
    assert late["most_us"] <= 8 * 20_000


def test_it_keeps_less_when_turns_end_late_for_it_and_when_it_is_woken_in_time(
    inflight: Path,
) -> None:
    lines = run(inflight, "late", 60_000, 20_000, 20_000, 1_000).splitlines()
    before, late_ends, in_time = (json.loads(lines[at])["in_flight_us"] for at in (1, 5, 6))
    assert late_ends < before
    assert in_time <= 20_000


def test_work_that_waits_for_a_call_is_not_waited_for_by_that_call(inflight: Path) -> None:
    held_up, longest = json.loads(run(inflight, "elsewhere", BOUND_US))
    # Each of the marks once.
    assert longest <= 3 * BOUND_US / 1000
    assert held_up <= 9 * BOUND_US / 1000


def test_a_capture_is_left_alone(inflight: Path) -> None:
    assert json.loads(run(inflight, "capture")) == {"calls": 0, "launches": 0}


@pytest.mark.parametrize("cost_us", [20, 100, 1_000, 20_000, 60_000])
def test_a_program_that_computes_all_the_time_is_busy(inflight: Path, cost_us: int) -> None:
    (phase,) = phases(inflight, 10_000, cost_us)
    assert 0.99 * phase["worked_us"] <= phase["busy_us"] <= phase["worked_us"]
    assert 10_000 - 128 <= phase["launches"] <= 10_000


def test_one_that_never_waits_is_busy_too(inflight: Path) -> None:
    """The work in flight is little more than at the last look, and the window has room for it."""
    (phase,) = phases(inflight, 5_000, 6)
    assert 0.95 * phase["worked_us"] <= phase["busy_us"] <= phase["worked_us"]


def test_a_gpu_that_runs_dry_between_launches_is_not(inflight: Path) -> None:
    """Its work in between is not known, and then nothing is counted."""
    (phase,) = phases(inflight, 10_000, 1)
    assert phase["busy_us"] == 0
    assert phase["launches"] >= 10_000 - 128


RESIDENCY = (
    "residency_check",
    "residency.c",
    "ring.c",
    "recency.c",
    "ledger.c",
    "account.c",
    "own_slot.c",
)


@pytest.fixture(scope="module")
def residency(build: Build) -> Path:
    return build(*RESIDENCY)


@pytest.mark.parametrize("what", ["order", "use"])
def test_residency(residency: Path, what: str) -> None:
    run(residency, what)


def test_residency_against_a_model(residency: Path) -> None:
    for seed in range(10):
        run(residency, "model", seed, 3_000)


@pytest.fixture(scope="module")
def arrival(build: Build) -> Path:
    return build("arrival_check", *RESIDENCY[1:])


@pytest.mark.parametrize("what", ["order", "untouched"])
def test_arrival(arrival: Path, what: str) -> None:
    run(arrival, what)


def test_what_is_displaced_is_what_a_driver_evicts(arrival: Path) -> None:
    for seed in range(10):
        run(arrival, "service", seed, 1_000)


def test_residency_while_others_allocate_and_free(build: Build, residency: Path) -> None:
    run(residency, "threads", 100)
    run(build(*RESIDENCY, sanitizer="thread"), "threads", 100)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_questions_from_many_threads(build: Build, sanitizer: str) -> None:
    program = build(
        "ask_check", "ask.c", "ledger.c", "account.c", "own_slot.c", sanitizer=sanitizer
    )
    run(program, 6, 2_000)
    run(program, "silence")


MOVER = (
    *("mover.c", "transfer.c", "lane.c", "residency.c", "ring.c", "ledger.c"),
    *("account.c", "own_slot.c", *GATE, "thread.c"),
)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_moves_while_everything_else_happens(build: Build, sanitizer: str) -> None:
    program = build("mover_check", *MOVER, sanitizer=sanitizer)
    for seed, how in enumerate(product(("blocking", "queueing"), ("room", "full"))):
        run(program, seed, 150, *how)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize(
    "what",
    [
        "steps",
        "cancelled",
        "part",
        "freed",
        "barred",
        "more",
        "progress",
        "leftovers",
        "displaced",
        "untouched",
        "gently",
        "ramp",
    ],
)
def test_moves_in_single_steps(build: Build, what: str, sanitizer: str) -> None:
    run(build("pacing_check", *MOVER, sanitizer=sanitizer), what)


@pytest.mark.parametrize(
    "what", ["fed", "needed", "long", "behind", "function", "nobody", "end", "holding"]
)
def test_work_that_waits_for_the_program(build: Build, what: str) -> None:
    run(build("undrained_check", "undrained.c"), what)
