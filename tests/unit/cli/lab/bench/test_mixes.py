import pytest

from nvshare.cli.lab.bench.latency_cases import GB
from nvshare.cli.lab.bench.latency_scenario import scenario_of
from nvshare.cli.lab.bench.mixes import MEASURED_S, SETS, choose_mixes, mix
from nvshare.errors import BadInputError

ALL = choose_mixes(400, "both", (), {})


def test_a_mix_depends_on_its_name_alone() -> None:
    assert mix("design-17", {}) == ALL["design"][17] == mix("design-17", {})
    assert choose_mixes(10, "design", (), {})["design"] == ALL["design"][:5]


def test_the_sets_have_half_of_the_mixes_each_and_none_in_common() -> None:
    assert {name: len(cases) for name, cases in ALL.items()} == dict.fromkeys(SETS, 200)
    askers = [case.askers for cases in ALL.values() for case in cases]
    assert len(set(askers)) == 400
    assert list(choose_mixes(8, "unseen", (), {})) == ["unseen"]


def test_mixes_are_within_their_bounds_and_reach_them() -> None:
    cases = [case for chosen in ALL.values() for case in chosen]
    askers = [one for case in cases for one in case.askers]
    trainers = [memory for case in cases for memory in case.trainers]
    assert {len(case.askers) for case in cases} == {1, 2, 3, 4, 5}
    assert {len(case.trainers) for case in cases} == {1, 2}
    assert {case.seconds for case in cases} == {MEASURED_S}
    for values, least, most in (
        ([one.memory / GB for one in askers], 2.0, 12.0),
        ([memory / GB for memory in trainers], 6.0, 13.0),
        ([one.seconds for one in askers], 0.2, 20.0),
        ([(one.rest + one.rest_most) / 2 for one in askers], 2.0, 120.0),
    ):
        assert least <= min(values) < 1.1 * least
        assert 0.9 * most < max(values) <= most


def test_half_of_the_bursts_are_shorter_than_the_geometric_mean_of_the_bounds() -> None:
    askers = [one for cases in ALL.values() for case in cases for one in case.askers]
    assert sum(one.seconds < 2.0 for one in askers) / len(askers) == pytest.approx(0.5, abs=0.05)


def test_settings_and_names_are_given() -> None:
    chosen = choose_mixes(0, "both", ("design-3", "unseen-0"), {"policy": "fifo"})
    assert [case.name for case in chosen["chosen"]] == ["design-3", "unseen-0"]
    assert scenario_of(chosen["chosen"][0], 10.0).settings.policy == "fifo"


@pytest.mark.parametrize("name", ["design", "design-", "design-x", "other-1", ""])
def test_a_mix_that_does_not_exist(name: str) -> None:
    with pytest.raises(BadInputError, match="there is no mix"):
        mix(name, {})
