from pathlib import Path

import pytest

from nvshare.errors import BadInputError
from nvshare.lab.sim.catalog import find, known_scenarios, load_known


@pytest.mark.parametrize("name", known_scenarios())
def test_every_scenario_can_be_read_and_has_a_title(name: str) -> None:
    scenario = load_known(name)
    assert scenario.name == name
    assert scenario.title


def test_the_measured_ones_are_there() -> None:
    assert {"T1", "T2a", "T2s", "T3", "T4", "T5", "T6", "X1", "X2", "X3"} < set(known_scenarios())


def test_by_name_in_any_case_or_by_path(tmp_path: Path) -> None:
    assert find("t2A").name == "T2a"
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\ngpus = "t4"\n[[program]]\nname = "a"\nworkload = "pytorch-add"\n'
    )
    assert find(str(file)).name == "mine"


def test_one_that_does_not_exist() -> None:
    with pytest.raises(BadInputError, match='there is no scenario called "T7"'):
        find("T7")
