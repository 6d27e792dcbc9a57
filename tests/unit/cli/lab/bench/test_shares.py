import pytest

from nvshare.cli.lab.bench.share_cases import CASES, Case, Client
from nvshare.cli.lab.bench.share_results import Got
from nvshare.cli.lab.bench.share_runs import MOST_CLIENTS, batches
from nvshare.cli.lab.bench.share_simulation import simulate_case
from nvshare.cli.lab.bench.shares import choose
from nvshare.errors import BadInputError

KNOWN = {case.name: case for case in CASES}


def test_every_case_has_a_name_of_its_own() -> None:
    assert len(KNOWN) == len(CASES)


def test_shares_that_are_too_many_for_a_gpu_are_expected_to_shrink_on_that_one() -> None:
    case = Case("two", (Client(80), Client(80), Client(60, gpu=1)))
    assert case.expected((0.0, 0.0, 0.0)) == [50.0, 50.0, 60.0]


def test_who_has_no_share_is_compared_with_who_does_not_know_nvshare() -> None:
    case = Case("bare", (Client(), Client(gpu=1, is_bare=True)))
    assert case.expected((97.0, 98.5)) == [98.5, 98.5]
    assert Got(case, 30.0, (97.0, 98.5)).line()["within"] is False
    assert Got(case, 30.0, (97.6, 98.5)).line()["within"] is True


@pytest.mark.parametrize(
    ("kernel", "percent", "seconds"), [(2.0, 50, 32.0), (2.0, 30, 100 / 3), (0.1, 30, 30.0)]
)
def test_a_program_alone_is_measured_for_whole_cycles(
    kernel: float, percent: int, seconds: float
) -> None:
    case = Case("long", (Client(percent, kernel=kernel),))
    assert case.measured_seconds(30.0) == pytest.approx(seconds)


def test_as_many_run_at_a_time_as_can() -> None:
    found = batches(CASES)
    assert [case for batch in found for case in batch] == list(CASES)
    assert all(sum(len(case.clients) for case in batch) <= MOST_CLIENTS for batch in found)


def test_what_is_printed_of_a_pair() -> None:
    line = Got(KNOWN["pair-30-60"], 30.0, (29.0, 58.5)).line()
    assert (line["set"], line["gpu_of"], line["got"]) == ([30, 60], [0, 0], [29.0, 58.5])
    # Each is near enough, and both together are not.
    assert (line["worst_error"], line["sum_error"], line["within"]) == (1.5, 2.5, False)


@pytest.mark.parametrize(("got", "within"), [((28.0, 58.0), True), ((30.0, 54.0), False)])
def test_with_turns_for_memory_only_the_ratio_counts(
    got: tuple[float, float], within: bool
) -> None:
    assert Got(KNOWN["turns-30-60"], 600.0, got).line()["within"] is within


@pytest.mark.parametrize(
    ("slowest", "low", "within"),
    [(0.043, 5.0, True), (0.045, 5.0, False), (0.043, 4.9, False)],
)
def test_bursts_are_compared_with_those_of_one_alone(
    slowest: float, low: float, within: bool
) -> None:
    beside, alone = (0.02,) * 90 + (slowest,) * 10, (0.02,) * 100
    case = KNOWN["high-beside-low"]
    line = Got(case, 30.0, (25.0, low, 60.0, 25.0), (beside, (), (), alone)).line()
    # 1.2 times as long as alone, and 20 ms in flight.
    assert (line["p99_bound_ms"], line["alone_p99_ms"]) == (44.0, 20.0)
    assert line["p99_ms"] == pytest.approx(1000 * slowest)
    assert line["within"] is within


def test_a_case_that_does_not_exist_is_named() -> None:
    with pytest.raises(BadInputError, match="there is no case pair-1-2"):
        choose(["pair-1-2"], "emulator")


def test_what_takes_long_is_left_out_unless_it_is_asked_for() -> None:
    assert KNOWN["turns-30-60"] not in choose([], "emulator")
    assert KNOWN["turns-30-60"] in choose([], "simulator")
    assert choose(["turns-30-60"], "emulator") == [KNOWN["turns-30-60"]]


@pytest.mark.parametrize(
    "name",
    ["graph-30", "four-on-two", "no-share", "beside-two-40", "turns-30-60", "high-beside-low"],
)
def test_in_the_simulator_they_get_what_they_are_to_have(name: str) -> None:
    assert simulate_case(KNOWN[name], 10.0).line()["within"] is True


def test_in_the_simulator_bursts_of_the_warm_up_do_not_count() -> None:
    beside, _, _, alone = simulate_case(KNOWN["high-beside-low"], 10.0).latencies
    # Of 20 ms, with rests of 40 to 80.
    assert max(len(beside), len(alone)) <= 10.0 / 0.06
    assert min(len(beside), len(alone)) >= 10.0 / 0.15
