"""Shares of compute in the simulator: no program exceeds its share, and each can use all of it."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.scenario import Scenario

from .making import MIB, program

LOOK_S = 0.05
# A share is kept over a window of two short turns of every program.
SLICE_S = 0.05
AFTER_START_S = 5.0
END_S = 15.0

Curve = list[float]


def computing(compute: int | None, kernel: float = 0.005, **fields: Any) -> dict[str, Any]:
    """A program that computes all the time, as far as it may."""
    endless = program(MIB, 10**9, kernel, compute=compute, gpu=0, **fields)
    return {**endless, "name": f"{compute}/{kernel}"}


def curves(*programs: dict[str, Any], until: float = END_S) -> list[Curve]:
    """Return the seconds of kernels that each program has done, look by look."""
    data = {"name": "test", "gpus": "t4", "until": until, "program": programs}
    engine = Engine(Scenario.model_validate(data), check=True)
    done: list[Curve] = [[] for _ in programs]

    def look() -> None:
        (site,) = engine.sites
        site.gpu.catch_up(engine.now)
        for key, curve in enumerate(done):
            curve.append(site.programs[key].computed_now() if key in site.programs else 0.0)
        engine.at(engine.now + LOOK_S, look)

    engine.at(LOOK_S, look)
    engine.run()
    return done


def percents(*programs: dict[str, Any]) -> list[float]:
    """Return the part of the GPU that each program has once all have started."""
    first = int(AFTER_START_S / LOOK_S)
    return [
        100 * (curve[-1] - curve[first]) / (LOOK_S * (len(curve) - 1 - first))
        for curve in curves(*programs)
    ]


@pytest.mark.parametrize("compute", [10, 30, 50, 70, 90])
@pytest.mark.parametrize("sync", [False, True])
def test_alone_a_program_has_its_share(compute: int, sync: bool) -> None:
    assert percents(computing(compute, idle=1e-6 if sync else 0.0)) == [
        pytest.approx(compute, abs=0.5)
    ]


def test_a_long_kernel_is_paid_back_in_full() -> None:
    (curve,) = curves(computing(50, 2.0), until=41.0)
    assert curve[int(40.5 / LOOK_S)] == pytest.approx(20.0, abs=1.0)


@pytest.mark.parametrize("pair", [(30, 60), (25, 75), (50, 50), (10, 90)])
def test_two_have_their_shares(pair: tuple[int, int]) -> None:
    got = percents(*map(computing, pair))
    assert got == [pytest.approx(percent, abs=1.0) for percent in pair]


def test_shares_that_are_too_many_shrink_and_the_gpu_is_full() -> None:
    assert percents(computing(80), computing(80)) == [pytest.approx(50, abs=1.0)] * 2


def test_who_has_no_share_has_the_rest() -> None:
    assert percents(computing(20), computing(None)) == [
        pytest.approx(20, abs=1.0),
        pytest.approx(80, abs=1.0),
    ]


def test_with_burst_there_is_more_until_somebody_else_comes() -> None:
    alone, _ = curves(computing(20, burst=True), computing(None, arrival=8.0))
    looks = round(1 / LOOK_S)
    assert alone[6 * looks] - alone[4 * looks] == pytest.approx(2.0, abs=0.01)
    assert alone[14 * looks] - alone[12 * looks] == pytest.approx(0.4, abs=0.05)


programs = st.lists(
    st.builds(
        computing,
        st.none() | st.integers(5, 95),
        st.sampled_from([0.001, 0.005, 0.02, 0.3]),
        idle=st.sampled_from([0.0, 0.0, 0.001, 0.05]),
        arrival=st.floats(0.0, 3.0),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=30, deadline=None)
@given(programs)
def test_nobody_ever_has_more_than_its_share(told: Sequence[dict[str, Any]]) -> None:
    done = curves(*told, until=8.0)
    window = 2 * SLICE_S * len(told)
    for one, curve in zip(told, done, strict=True):
        part = 1.0 if one["compute"] is None else one["compute"] / 100
        kernel = one["phase"][1]["kernel_seconds"]
        # In any window: from its lowest point below the line, it rises by no more than this.
        ahead = [used - part * LOOK_S * look for look, used in enumerate(curve)]
        lowest = ahead[0]
        for at in ahead:
            lowest = min(lowest, at)
            assert at - lowest <= part * window + kernel + 1e-6, one
    together = [sum(used) for used in zip(*done, strict=True)]
    assert all(used <= LOOK_S * (look + 1) + 1e-6 for look, used in enumerate(together))
