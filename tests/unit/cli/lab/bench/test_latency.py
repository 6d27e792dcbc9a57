import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from nvshare.cli.lab.bench.first_come import Served
from nvshare.cli.lab.bench.latency import (
    choose,
    latency,
    on_simulator,
    parse_settings,
    with_settings,
)
from nvshare.cli.lab.bench.latency_cases import CASES, GB, Asker, Case, popularity
from nvshare.cli.lab.bench.latency_results import Waited, joined, percentile
from nvshare.cli.lab.bench.latency_runs import read_bursts
from nvshare.cli.lab.bench.latency_scenario import (
    Asked,
    judge,
    machine_of,
    measured,
    scenario_of,
)
from nvshare.cli.lab.bench.latency_simulation import simulate_case, simulate_nodes, simulated
from nvshare.errors import BadInputError
from nvshare.lab.sim.engine import simulate

ALONE = Case("alone", (Asker(8 * GB, 1.0, 20.0, 25.0),))
FITS = Case("fits", (Asker(1 * GB, 1.0, 5.0, 6.0),), trainers=(2 * GB,))


def test_every_case_and_priority_is_there_once() -> None:
    assert len({(case.name, case.priority, case.settings) for case in CASES}) == len(CASES)


def test_a_notebook_waits_for_little_more_than_its_memory() -> None:
    """At most 1.3 times its memory's way in for half of the bursts, and twice for nearly all."""
    (notebook,) = (c for c in CASES if c.name == "notebook" and c.priority == "normal")
    line = simulate_case(notebook, 600.0).line()
    assert line["wait_p50_s"] <= 1.3 * line["move_s"]
    assert line["wait_p99_s"] <= 2 * line["move_s"]
    assert line["others_loss"] <= line["loss_floor"] + 0.01


def test_models_are_served_almost_as_soon_as_first_come_first_served() -> None:
    (light,) = choose(["serving-light"])
    assert not light.settings
    line = simulate_case(light, 1800.0).line()
    assert line["wait_p50_s"] <= 1.3 * line["bound_p50_s"]
    assert line["wait_p99_s"] <= 1.5 * line["bound_p99_s"]


@pytest.mark.parametrize("priority", ["normal", "high"])
def test_a_notebook_beside_jobs_that_run_to_their_end_waits_no_longer(priority: str) -> None:
    (case,) = (one for one in choose(["notebook-batch"]) if one.priority == priority)
    line = simulate_case(case, 1200.0).line()
    assert line["p50_to_bound"] <= 1.3
    assert line["p99_to_bound"] <= 1.5
    assert line["others_loss"] <= line["loss_floor"] + 0.01


def test_notebooks_that_meet_each_other_wait_little_longer_than_they_have_to() -> None:
    (case,) = (one for one in choose(["three-notebooks"]) if one.priority == "normal")
    line = simulate_case(case, 1200.0).line()
    assert line["p50_to_bound"] <= 1.3
    assert line["p99_to_bound"] <= 1.3
    assert line["others_loss"] <= line["loss_floor"] + 0.01


def test_three_notebooks_are_measured_when_waits_have_become_steady() -> None:
    """A core that saves for notebooks, or remembers, serves them at once for the first minutes."""
    (case, *_) = (one for one in choose(["three-notebooks"]) if one.priority == "normal")
    length = 1200.0
    waits: tuple[list[float], list[float]] = ([], [])
    for seed in range(case.nodes):
        for one in measured(case, length, simulated(case, length, seed).asked):
            began = case.warm_up + length if one.began is None else one.began
            waits[one.wanted > case.warm_up + length / 2].append(began - one.wanted)
    early, late = (sum(half) / len(half) for half in waits)
    assert early == pytest.approx(late, rel=0.15)


def test_nodes_are_simulated_with_requests_of_their_own() -> None:
    case = replace(ALONE, nodes=3)
    together = simulate_nodes(case, 100.0)
    alone = [simulate_case(case, 100.0, seed) for seed in range(3)]
    assert together.waits == alone[0].waits + alone[1].waits + alone[2].waits
    asked = [simulated(case, 100.0, seed).asked[-1].wanted for seed in range(3)]
    assert len(set(asked)) == 3
    assert together.seconds == 300.0


def test_a_trainer_keeps_its_part_beside_frequent_bursts() -> None:
    (frequent,) = (c for c in choose(["frequent"]) if c.priority == "normal")
    line = simulate_case(frequent, 600.0).line()
    # An equal part of the time is half of it. The other half goes into the bursts and their moves.
    assert line["others_loss"] <= 0.53
    assert line["p50_to_bound"] <= 2.5


def test_frequent_bursts_of_high_priority_hardly_wait() -> None:
    (frequent,) = (c for c in choose(["frequent"]) if c.priority == "high")
    line = simulate_case(frequent, 600.0).line()
    assert line["p99_to_bound"] <= 1.4


def test_the_bound_assumes_one_trainer_at_a_time_with_policy_batch() -> None:
    (case, _) = choose(["notebook-batch"])
    assert len(case.trainers) > 1
    assert machine_of(case).taken == case.trainers[0]


def test_popularity_is_by_the_law_of_zipf() -> None:
    parts = popularity(6)
    assert sum(parts) == pytest.approx(1.0)
    assert parts[0] == pytest.approx(2 * parts[1]) == pytest.approx(6 * parts[5])


def test_nodes_side_by_side_are_one_result_of_their_times_together() -> None:
    case = Case("x", (Asker(8 * GB, 1.0),), trainers=(12 * GB,))
    once = Waited(case, 100.0, (1.0, 3.0), (Served(0.5, 0.5, 0.0),) * 2, 2.0, computed=(90.0,))
    other = Waited(case, 100.0, (2.0,), (Served(1.5, 0.5, 0.5),), 1.0, computed=(80.0,))
    line = joined([once, other]).line()
    assert (line["bursts"], line["seconds"]) == (3, 200.0)
    assert (line["wait_p50_s"], line["bound_p99_s"]) == (2.0, 1.5)
    assert (line["others_loss"], line["loss_floor"]) == (0.15, 0.025)


@pytest.mark.parametrize(("percent", "value"), [(50, 2.0), (99, 4.0), (1, 1.0), (75, 3.0)])
def test_percentiles_are_waits_that_have_been(percent: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == value


def test_what_is_printed() -> None:
    case = Case("x", (Asker(8 * GB, 1.0),), trainers=(12 * GB,), priority="high")
    served = (Served(0.5, 0.5, 0.0), Served(1.5, 0.5, 0.5))
    line = Waited(case, 100.0, (1.0, 3.0), served, 2.0, computed=(90.0,)).line()
    assert (line["case"], line["priority"], line["bursts"]) == ("x", "high", 2)
    assert (line["wait_p50_s"], line["wait_p99_s"]) == (1.0, 3.0)
    assert (line["bound_p50_s"], line["bound_p99_s"], line["move_s"]) == (0.5, 1.5, 0.5)
    assert (line["p50_to_bound"], line["p99_to_bound"], line["mean_to_bound"]) == (2.0, 2.0, 2.0)
    # A tenth is lost; the work, and a second and a half of moves, are 3.5 % of the time.
    assert (line["others_loss"], line["loss_floor"]) == (0.1, 0.035)


def test_without_anybody_who_computes_all_the_time_nothing_is_lost() -> None:
    line = Waited(ALONE, 100.0, (), (), 0.0).line()
    assert (line["wait_p50_s"], line["others_loss"], line["loss_floor"]) == (None, None, None)
    assert line["p99_to_bound"] is None


def test_a_program_alone_waits_for_nothing() -> None:
    waited = simulate_case(ALONE, 300.0)
    assert len(waited.waits) == pytest.approx(300 / 23.5, abs=2)
    assert max(waited.waits) < 0.001


def test_beside_a_trainer_that_fits_nothing_is_moved_and_only_the_work_is_lost() -> None:
    waited = simulate_case(FITS, 300.0)
    line = waited.line()
    assert max(waited.waits) < 1.5
    assert (line["bound_p99_s"], line["others_loss"]) == (
        0.0,
        pytest.approx(line["loss_floor"], abs=0.03),
    )


def test_who_still_waits_in_the_end_has_waited_until_then() -> None:
    (case,) = (one for one in choose(["frequent"]) if one.priority == "normal")
    end = case.warm_up + 50.0
    asks = simulate(scenario_of(case, end), picture=True).records[0]
    last = (asks.bursts or [])[-1]
    assert last.began is None
    assert simulate_case(case, 50.0).waits[-1] == pytest.approx(end - last.wanted)


def test_the_room_is_what_the_daemon_counts_with() -> None:
    machine = machine_of(FITS)
    assert 13 * GB < machine.room < 15 * GB
    assert (machine.taken, machine.bus) == (2 * GB, 12 * GB)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.priority}")
def test_all_cases_can_be_told_as_scenarios(case: Case) -> None:
    told = scenario_of(case, case.warm_up)
    assert len(told.program) == len(case.askers) + len(case.trainers)
    assert {one.priority for one in told.program[: len(case.askers)]} == {case.priority}


def test_a_line_for_each_case() -> None:
    (line,) = on_simulator([ALONE], 60.0)
    assert (line["case"], line["on"], line["gpus"]) == ("alone", "simulator", "t4")


def test_cases_are_chosen_by_name() -> None:
    assert [case.priority for case in choose(["notebook"])] == ["normal", "high"]
    assert choose([]) == list(CASES)
    with pytest.raises(BadInputError, match="there is no case note"):
        choose(["note"])


def test_what_programs_tell_of_their_bursts() -> None:
    told = "wants 100.5\nbegins 101.25\nwants 110\nbegins 110.000100\nwants 120\nbeg"
    first, second, third = read_bursts(told, 2, 100.0)
    assert first == Asked(0.5, 2, 1.25)
    assert second.began == pytest.approx(10.0001)
    assert third == Asked(20.0, 2, None)
    assert read_bursts("", 0, 0.0) == []


def test_the_bound_begins_with_the_memory_that_the_warm_up_has_left() -> None:
    begun = ALONE.warm_up + 1.0
    cold, warm = (
        judge(ALONE, 100.0, [Asked(wanted, 0, wanted) for wanted in times], ()).at_best
        for times in ([begun], [begun - 20.0, begun])
    )
    assert [one.wait for one in cold] == [pytest.approx(8 / 12)]
    assert [one.wait for one in warm] == [0.0]


def test_only_what_was_wanted_after_the_warm_up_counts() -> None:
    asked = [
        Asked(ALONE.warm_up + 90.0, 0, ALONE.warm_up + 101.0),
        Asked(ALONE.warm_up - 1.0, 0, ALONE.warm_up),
        Asked(ALONE.warm_up + 10.0, 0, ALONE.warm_up + 11.0),
        Asked(ALONE.warm_up + 95.0, 0, None),
        Asked(ALONE.warm_up + 100.5, 0, ALONE.warm_up + 101.0),
    ]
    assert judge(ALONE, 100.0, asked, ()).waits == (1.0, 10.0, 5.0)


def test_settings_of_the_gpu_are_changed_by_name() -> None:
    (case,) = (one for one in choose(["notebook-batch"]) if one.priority == "high")
    changed = with_settings(case, parse_settings(["turn=40", "gangs=off"]))
    assert dict(changed.settings) == {"policy": "batch", "turn_seconds": 40.0, "gangs": False}
    assert with_settings(case, {}) == case
    assert parse_settings(["lab.turn_max=60"]) == {"lab": {"turn_max": 60.0}}


@pytest.mark.parametrize("change", ["colour=red", "policy", "policy=none", "lab.turn_max=0"])
def test_a_setting_that_cannot_be_changed(change: str) -> None:
    with pytest.raises(BadInputError):
        parse_settings([change])


def run_verb(*words: str) -> list[str]:
    """Run the verb, and return the lines that it prints."""
    result = CliRunner().invoke(latency, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output.splitlines()


def test_mixes_print_a_line_each_and_a_summary() -> None:
    lines = run_verb("--mixes", "2", "--set", "design", "--seconds", "60", "--jobs", "1", "--json")
    one, summary = map(json.loads, lines)
    assert (one["bench"], one["set"], one["mix"]) == ("mixes", "design", "design-0")
    assert (summary["set"], summary["mixes"]) == ("design", 1)


def test_mixes_print_a_table_for_people() -> None:
    lines = run_verb("--mix", "unseen-2", "--seconds", "60", "--jobs", "1")
    assert lines[0].startswith("unseen-2: ")
    assert any("chosen: 1 mixes" in line for line in lines)


def test_mixes_run_in_the_simulator_only() -> None:
    for words in (["--on", "emulator"], ["--case", "notebook"]):
        with pytest.raises(BadInputError, match="only in the simulator"):
            CliRunner().invoke(latency, ["--mixes", "2", *words], catch_exceptions=False)
