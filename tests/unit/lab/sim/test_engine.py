"""Whole simulations: placement, chance, sums that must add up, and the cost of a simulation."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.cluster import cluster_day
from nvshare.lab.sim.engine import Engine, Outcome, simulate
from nvshare.lab.sim.record import Kind
from nvshare.lab.sim.report import summarise
from nvshare.lab.sim.scenario import Scenario
from nvshare.lab.sim.workload import WORKLOADS, alone_seconds

from .making import GB, program, run


@cache
def known(name: str) -> Outcome:
    """Simulate a known scenario, with the core checking itself; once for all tests."""
    return simulate(load_known(name), check=True, picture=True)


phases = st.fixed_dictionaries(
    {
        "wait": st.sampled_from([0.0, 0.0, 0.02, 3.0]),
        "memory": st.integers(0, 14).map(lambda size: size * GB),
        "copy_in": st.sampled_from([0, GB // 2]),
        "iterations": st.integers(0, 40),
        "kernel_seconds": st.sampled_from([0.001, 0.02, 0.3]),
        "idle": st.sampled_from([0.0, 0.0, 0.03, 0.2]),
    }
)
programs = st.fixed_dictionaries(
    {
        "name": st.just("p"),
        "count": st.integers(1, 3),
        "arrival": st.sampled_from([0.0, 0.5, 7.0]),
        "every": st.sampled_from([0.0, 0.1]),
        "phase": st.lists(phases, min_size=1, max_size=3),
    }
)
sharing = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["auto", "auto", "serial", "concurrent"]),
        "policy": st.sampled_from(["fair", "fifo"]),
        "turn_seconds": st.sampled_from(["auto", 0.2, 2.0]),
    }
)


@settings(deadline=None, max_examples=60)
@given(st.lists(programs, min_size=1, max_size=3), st.sampled_from(["t4", "2xt4"]), sharing)
def test_everything_adds_up(listed: list[dict[str, Any]], gpus: str, mode: dict[str, Any]) -> None:
    adds_up(run(*listed, gpus=gpus, settings=mode))


def test_turns_that_are_shorter_than_a_move_become_longer() -> None:
    """Otherwise they would take turns for ever, and neither would ever have all its memory.

    A turn lasts at least until its memory is there, so no failed turn is needed to find that out.
    """
    large = {
        "name": "p",
        "count": 3,
        "every": 0.1,
        "phase": [
            {
                "memory": 14 * GB,
                "wait": 0.02,
                "idle": 0.03,
                "iterations": 37,
                "kernel_seconds": 0.3,
            },
            {"wait": 3.0, "memory": 13 * GB, "iterations": 13, "kernel_seconds": 0.001},
        ],
    }
    small = {
        "name": "p",
        "count": 2,
        "every": 0.1,
        "arrival": 7.0,
        "phase": [{"iterations": 23, "kernel_seconds": 0.001}],
    }
    sharing = {"mode": "auto", "policy": "fair", "turn_seconds": 0.2}
    outcome = run(large, small, gpus="2xt4", settings=sharing)
    adds_up(outcome)
    # Two of the large ones are on the first GPU, and compute for 12 s each.
    assert outcome.ended < 80.0


def adds_up(outcome: Outcome) -> None:
    """Check that all programs have done their work, and nothing is left."""
    profiles = outcome.scenario.profiles()
    for told, record in zip(outcome.arrivals, outcome.records, strict=True):
        assert record.ended is not None
        alone, _ = alone_seconds(told.program, profiles[record.gpu])
        assert record.duration(0.0) >= alone - 1e-6
        kernels = sum(phase.iterations for phase in told.program.phase)
        assert record.iterations == pytest.approx(kernels, abs=1e-3)
    for site in outcome.sites:
        gpu = site.gpu
        assert gpu.processor.busy <= outcome.ended + 1e-6
        assert gpu.move_seconds <= outcome.ended + 1e-6
        assert 0 <= gpu.moved_in <= gpu.moved_out
        assert (gpu.board.resident, gpu.open_bytes, gpu.moves) == (0, 0, 0)
        assert not gpu.board.holdings


def test_the_same_seed_gives_the_same_result_to_the_last_digit() -> None:
    scenario = load_known("come-and-go")
    first, second = (summarise(simulate(scenario, seed=3)) for _ in range(2))
    assert first == second
    assert summarise(simulate(scenario, seed=4)) != first


def test_programs_go_where_they_want_or_where_there_is_least() -> None:
    wants = {**program(1 * GB, 1), "gpu": 1}
    outcome = run(wants, {**program(1 * GB, 1), "count": 3, "every": 0.001}, gpus="2xt4")
    assert [record.gpu for record in outcome.records] == [1, 0, 0, 1]


def test_copies_of_a_program_have_numbers_and_come_one_by_one() -> None:
    outcome = run({**program(0, 1), "count": 2, "arrival": 3.0, "every": 2.0})
    assert [(r.name, r.arrival) for r in outcome.records] == [("p-1", 3.0), ("p-2", 5.0)]


def test_arrivals_spread_by_chance() -> None:
    late = {**program(0, 1), "count": 5, "jitter": 10.0}
    arrivals = [record.arrival for record in run(late).records]
    assert len(set(arrivals)) == 5
    assert all(0 <= arrival <= 10 for arrival in arrivals)


# The required makespan over ideal. T6 rests on the assumed lateness of sleepers.
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("T1", 1.01),
        ("T2a", 1.03),
        ("T2s", 1.03),
        ("T3", 1.01),
        ("T4", 1.03),
        ("T5", 1.01),
        ("T6", 1.03),
        ("X1", 1.05),
        ("eight-on-one", 1.08),
        ("mixed", 1.03),
        ("resting-long", 1.12),
        ("gangs-fit", 1.05),
        ("gangs-over", 1.05),
        ("gangs-4x4", 1.05),
    ],
)
def test_the_targets(name: str, most: float) -> None:
    ratio = summarise(known(name)).ratio
    assert ratio is not None
    assert 0.99 < ratio <= most


def test_t4_without_short_turns_loses_what_the_gpu_loses_by_changing_between_two() -> None:
    scenario = load_known("T4")
    together = scenario.settings.changed({"lab": {"slice_seconds": 0.0}})
    ratio = summarise(simulate(scenario.model_copy(update={"settings": together}))).ratio
    assert ratio == pytest.approx(1.107, rel=0.01)


def test_short_rests_are_not_spent_on_moving_memory() -> None:
    """One of the two has to rest while the other cannot use that; 2 is the best possible."""
    summary = summarise(known("resting-large"))
    assert summary.ratio is not None
    assert 1.98 < summary.ratio < 2.05
    assert summary.turn_changes < 15


def test_t6_in_step_loses_more() -> None:
    """Programs that begin at the same moment and are never late meet in every iteration."""
    scenario = load_known("T6")
    last = WORKLOADS["pytorch-add-idle-small"][-1].model_copy(update={"idle_jitter": 0.0})
    phases = (*WORKLOADS["pytorch-add-idle-small"][:-1], last)
    told = scenario.program[0].model_copy(update={"workload": None, "phase": phases})
    ratio = summarise(simulate(scenario.model_copy(update={"program": (told,)}))).ratio
    assert ratio == pytest.approx(1.17, abs=0.01)


@pytest.mark.parametrize("name", ["T1", "T3", "T4", "T5", "T6"])
def test_what_fits_is_never_moved(name: str) -> None:
    summary = summarise(known(name))
    assert (summary.turn_changes, summary.swapped_out_bytes, summary.swap_s) == (0, 0, 0.0)
    # A program that is alone, or rests most of the time, takes no short turns; except programs that
    # begin at the same time, while they touch their memory for the first time.
    assert summary.slices > 100 if name == "T4" else summary.slices <= 4


def test_in_an_hour_of_everything_that_fits_nobody_waits_for_memory_and_nothing_moves() -> None:
    busy = {**program(3 * GB, 10**9, 0.01), "name": "busy", "count": 2}
    rests = {**program(2 * GB, 10**9, 0.2, idle=1.0), "name": "rests", "count": 2}
    waves = {
        "name": "waves",
        "repeat": 1000,
        "phase": [
            {"memory": 1 * GB, "iterations": 500, "kernel_seconds": 0.01},
            {"memory": 3 * GB, "iterations": 500, "kernel_seconds": 0.01},
            {"wait": 5.0},
        ],
    }
    summary = summarise(run(busy, rests, waves, until=3600.0))
    assert summary.turn_changes == 0
    assert (summary.swapped_out_bytes, summary.swapped_in_bytes, summary.swap_s) == (0, 0, 0.0)
    # Programs that compute all the time take short turns, and the others do not wait for them.
    assert summary.slices > 1000
    assert max(c.waited_s for c in summary.clients if c.name.startswith("rests")) == 0.0


def runs_from(outcome: Outcome, index: int, time: float) -> float:
    """The first time from a moment on at which a program ran."""
    spans = outcome.records[index].spans or ()
    return min(max(span.begin, time) for span in spans if span.kind is Kind.RUN and span.end > time)


def test_x2_back_at_full_speed_within_three_seconds() -> None:
    outcome = known("X2")
    gone = outcome.records[1].ended
    assert gone is not None
    assert runs_from(outcome, 0, gone) - gone < 3.0


def test_x3_one_goes_on_at_full_speed_within_three_seconds_of_the_split() -> None:
    outcome = known("X3")
    split = min(
        span.end
        for record in outcome.records
        for span in record.spans or ()
        if span.kind is Kind.RUN
    )
    assert min(runs_from(outcome, index, split) for index in (0, 1)) - split < 3.0


@pytest.mark.timeout(400)
def test_nobody_starves_in_five_of_ten_hours() -> None:
    # The bound is a little more than four.
    outcome = simulate(load_known("ten-hours").model_copy(update={"until": 5 * 3600.0}))
    n, longest_turn = len(outcome.records), 300.0
    assert n == 50
    swaps = outcome.sites[0].gpu.move_seconds / max(1, sum(r.turns for r in outcome.records))
    for record in outcome.records:
        assert record.turns > 0
        assert record.longest_wait < (n - 1) * (longest_turn + swaps)
        assert record.iterations > 0


def test_the_cost_of_a_simulation_in_events() -> None:
    steps = {name: known(name).steps for name in ("T1", "T2a", "T3", "T4", "T5", "T6")}
    # Two events per iteration for programs that synchronise, none for others; and a few more for
    # every move.
    assert steps["T3"] < 40
    assert steps["T2a"] < 1000
    assert sum(steps.values()) < 70_000


def test_the_cost_of_a_cluster_in_events() -> None:
    outcome = simulate(cluster_day(0, nodes=2, jobs=160))
    assert outcome.steps < 350 * 160
    assert sum(site.events for site in outcome.sites) < 110 * 160
    assert all(record.ended is not None for record in outcome.records)


def test_bursts_are_recorded_without_a_picture_too() -> None:
    told = {
        "name": "bursts",
        "gpus": "t4",
        "until": 20.0,
        "program": [{"name": "a", "phase": [{"memory": 10**9, "iterations": 5, "idle": 1.0}]}],
    }
    scenario = Scenario.model_validate(told)
    engine = Engine(scenario, bursts=True)
    (record,) = engine.run().records
    assert record.bursts == simulate(scenario, picture=True).records[0].bursts
    assert len(record.bursts or ()) == 5
    assert record.spans is None
    assert engine.computed(engine.sites[0]) == {0: record.computed}
