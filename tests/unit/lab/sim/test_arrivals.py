from nvshare.lab.sim.arrivals import arrivals
from nvshare.lab.sim.scenario import Scenario

from .making import GB, program


def scenario(*programs: dict[str, object]) -> Scenario:
    return Scenario.model_validate({"name": "x", "gpus": "2xt4", "program": list(programs)})


def test_copies_have_names_and_times_of_their_own() -> None:
    coming = arrivals(scenario(program(count=3, arrival=5.0, every=2.0), program(name="q", gpu=1)))
    assert [(one.name, one.time) for one in coming] == [
        *(("p-1", 5.0), ("p-2", 7.0), ("p-3", 9.0)),
        ("q", 0.0),
    ]
    assert [one.wanted_gpu for one in coming] == [None, None, None, 1]


def test_a_program_of_ranks_is_one_process_on_each_of_its_gpus() -> None:
    coming = arrivals(scenario(program(count=2, ranks=[1, 0]), program(name="p-1")))
    assert [one.name for one in coming] == ["p-1.0", "p-1.1", "p-2.0", "p-2.1", "p-1"]
    assert [(one.wanted_gpu, one.rank) for one in coming[:4]] == [(1, 0), (0, 1)] * 2
    first, same, second, again, alone = (one.group for one in coming)
    assert (first, second, alone) == (same, again, "")
    assert first != second


def test_chance_is_the_same_for_the_same_seed() -> None:
    told = scenario(program(count=3, jitter=10.0))
    assert arrivals(told, 1) == arrivals(told, 1)
    assert arrivals(told, 1) != arrivals(told, 2)


def test_what_is_promised_is_the_most_that_will_be_allocated() -> None:
    phases = [{"memory": 2 * GB}, {"memory": 5 * GB}, {"memory": GB}]
    assert arrivals(scenario({"name": "p", "phase": phases}))[0].promised == 5 * GB
