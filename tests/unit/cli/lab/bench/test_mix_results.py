import pytest

from nvshare.cli.lab.bench.latency_cases import GB, Asker, Case
from nvshare.cli.lab.bench.latency_scenario import Asked
from nvshare.cli.lab.bench.latency_simulation import Simulated
from nvshare.cli.lab.bench.mix_results import LEAST_BURSTS, equal_part, line_of, summary

CASE = Case("design-1", (Asker(12 * GB, 1.0, 5.0, 6.0),), trainers=(6 * GB, 12 * GB))


def asked(*bursts: tuple[float, float | None, float | None]) -> list[Asked]:
    """Return bursts of one program; times are counted from the end of the warm-up."""
    return [
        Asked(
            CASE.warm_up + wanted,
            0,
            None if began is None else CASE.warm_up + began,
            None if ended is None else CASE.warm_up + ended,
        )
        for wanted, began, ended in bursts
    ]


def test_a_delay_is_a_wait_and_interruptions() -> None:
    bursts = asked(*((10.0 * n, 10.0 * n + 2, 10.0 * n + 7) for n in range(1, 6)))
    line = line_of(CASE, 100.0, Simulated(bursts, (30.0, 20.0), 4))
    assert (line["wait_p50_s"], line["delay_p95_s"]) == (2.0, 6.0)
    assert line["delay_p95_to_bound"] == pytest.approx(3 * line["wait_p95_to_bound"], rel=0.001)
    assert (line["bursts"], line["served"], line["turn_changes"]) == (5, 5, 4)


def test_a_burst_that_has_not_ended_is_delayed_by_what_is_sure() -> None:
    never = line_of(CASE, 100.0, Simulated(asked((90.0, None, None)), (1.0, 1.0), 0))
    begun = line_of(CASE, 100.0, Simulated(asked((90.0, 90.5, None)), (1.0, 1.0), 0))
    just = line_of(CASE, 100.0, Simulated(asked((99.0, 99.5, None)), (1.0, 1.0), 0))
    assert (never["wait_p95_s"], never["delay_p95_s"]) == (10.0, 10.0)
    assert (begun["wait_p95_s"], begun["delay_p95_s"]) == (0.5, 9.0)
    assert (just["wait_p95_s"], just["delay_p95_s"]) == (0.5, 0.5)
    assert never["served"] == 0


def test_the_worst_off_trainer_counts() -> None:
    assert equal_part(CASE, 100.0, (40.0, 20.0)) == pytest.approx(0.6)


def test_few_bursts_have_no_ratio_and_short_waits_none_below_one() -> None:
    served = [(10.0 * n, 10.0 * n, 10.0 * n + 1) for n in range(1, LEAST_BURSTS + 1)]
    few = line_of(CASE, 100.0, Simulated(asked(*served[1:]), (30.0, 20.0), 0))
    assert few["wait_p50_to_bound"] is None
    small = Case("design-2", (Asker(1 * GB, 1.0, 5.0, 6.0),), trainers=(6 * GB,))
    enough = line_of(small, 100.0, Simulated(asked(*served), (30.0,), 0))
    assert enough["wait_p50_to_bound"] == 1.0


def test_the_floor_is_at_most_all_of_the_time() -> None:
    many = [(float(n), n + 1.0, n + 2.0) for n in range(100)]
    assert line_of(CASE, 100.0, Simulated(asked(*many), (0.0, 0.0), 0))["loss_floor"] == 1.0


def made(part: float, ratio: float | None, loss: float) -> dict[str, object]:
    """Return the line of a mix."""
    names = ("wait_p50_to_bound", "wait_p95_to_bound", "delay_p95_to_bound")
    counts = {"turn_changes": 2, "bursts": 4 if ratio is None else 10, "served": 3}
    return {
        **dict.fromkeys(names, ratio),
        "settings": {},
        "equal_part": part,
        "others_loss": loss,
        "loss_floor": 0.2,
        **counts,
        "seconds": 900.0,
    }


def test_a_set_is_summed_up() -> None:
    lines = [made(0.7, 1.0, 0.3), made(0.9, 4.0, 0.2), made(1.2, None, 0.1), made(1.0, 2.0, 0.2)]
    found = summary("design", lines)
    assert (found["set"], found["mixes"], found["with_bursts"]) == ("design", 4, 3)
    assert found["wait_p50_to_bound"] == found["delay_p95_to_bound"] == 2.0
    assert (found["equal_part_least"], found["equal_part_p5"]) == (0.7, 0.7)
    assert (found["mixes_from_0.95"], found["mixes_from_0.8"]) == (0.5, 0.75)
    assert (found["beyond_floor_mean"], found["beyond_floor_most"]) == (0.0, 0.1)
    assert (found["bursts"], found["served"], found["turn_changes"]) == (34, 12, 8)


def test_without_any_bursts_there_is_no_mean() -> None:
    assert summary("design", [made(1.0, None, 0.2)])["wait_p95_to_bound"] is None
