from pathlib import Path
from typing import Any

import pytest

from nvshare.cli.lab.trial.ranks import Rank, launched_ranks, rank_command
from nvshare.errors import BadInputError
from nvshare.lab.sim.scenario import Program
from nvshare.lab.sim.workload import phases_of

PHASE = {"memory": "1Gi", "iterations": 7, "kernels": 3, "kernel_seconds": 0.04}


def ranks(**changes: Any) -> Program:
    return Program.model_validate(
        {"name": "p", "ranks": [0, 1], "startup": 2.0, "phase": [{**PHASE, **changes}]}
    )


def test_a_rank_is_a_command_line() -> None:
    program, *words = rank_command(ranks(sync=True), Rank(1, Path("/m")), managed=True)
    assert program.endswith("driver-ranks")
    assert words == [
        *("--held", "--startup", "2.0", "--ranks", "2", "--rank", "1", "--meet", "/m"),
        *("--memory", str(1 << 30), "--iterations", "7", "--kernels", "3", "--kernel", "0.04"),
        *("--sync", "--managed"),
    ]


def test_the_kernel_in_which_they_meet_counts() -> None:
    (phase,) = phases_of(launched_ranks(ranks()))
    assert phase.kernels == 4
    assert phase.kernels * (phase.kernel_seconds or 0.0) == pytest.approx(3 * 0.04)


@pytest.mark.parametrize("change", [{"idle": 1.0}, {"copy_in": 1}, {"touch": 1}, {"rate": 2.0}])
def test_what_no_program_of_ranks_does_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="cannot be played on the emulator"):
        rank_command(ranks(**change), Rank(0, Path("/m")), managed=False)
