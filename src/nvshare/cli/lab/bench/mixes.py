"""Random mixes of programs for `nvshare bench latency --mixes`: notebooks beside trainers.

A mix depends on nothing but its name, such as `design-17`. Rules are tuned with the mixes of one
set, and then judged by the other, which is why there are two.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from random import Random
from typing import Any

from nvshare.cli.lab.bench.latency_cases import GB, Asker, Case
from nvshare.cli.lab.bench.latency_scenario import KERNEL_S
from nvshare.errors import BadInputError

SETS = ("design", "unseen")
MEASURED_S = 900.0

_MOST_NOTEBOOKS = 5
_NOTEBOOK_GB = (2.0, 12.0)
_TRAINER_GB = (6.0, 13.0)
_BURST_S = (0.2, 20.0)
_THINK_S = (2.0, 120.0)
# A pause lasts this part of the mean think time at least, and is longer by this part at most.
_LEAST_THINK, _THINK_SPREAD = 0.7, 0.6


def choose_mixes(
    count: int, which: str, names: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, list[Case]]:
    """Return the mixes of these names, or else half of this many mixes of each set, by set.

    The first mixes of a set are the same for every count.
    """
    if names:
        return {"chosen": [mix(name, settings) for name in names]}
    sets = SETS if which == "both" else (which,)
    each = range(-(-count // len(SETS)))
    return {one: [mix(f"{one}-{number}", settings) for number in each] for one in sets}


def mix(name: str, settings: Mapping[str, Any]) -> Case:
    """Return the mix of this name: one to five notebooks beside one or two trainers."""
    which, _, number = name.partition("-")
    if which not in SETS or not number.isdecimal():
        raise BadInputError(
            f"there is no mix {name}", do=f"choose one such as {SETS[0]}-0 or {SETS[1]}-17"
        )
    random = Random(f"mix {which} {int(number)}")  # noqa: S311
    notebooks = random.randint(1, _MOST_NOTEBOOKS)
    # One trainer is more usual than two.
    trainers = random.choice((1, 1, 2))
    return Case(
        name,
        tuple(_notebook(random) for _ in range(notebooks)),
        tuple(_bytes(random.uniform, _TRAINER_GB) for _ in range(trainers)),
        seconds=MEASURED_S,
        settings=tuple(settings.items()),
    )


def _notebook(random: Random) -> Asker:
    memory = _bytes(random.uniform, _NOTEBOOK_GB)
    # Whole kernels.
    seconds = round(_log_uniform(random, _BURST_S) / KERNEL_S) * KERNEL_S
    think = _log_uniform(random, _THINK_S)
    least = think * _LEAST_THINK
    return Asker(memory, seconds, least, least + think * _THINK_SPREAD)


def _bytes(draw: Callable[[float, float], float], bounds: tuple[float, float]) -> int:
    return round(draw(*bounds) * GB)


def _log_uniform(random: Random, bounds: Sequence[float]) -> float:
    """Return a number of which every order of magnitude is as likely as the others."""
    low, high = bounds
    return exp(random.uniform(log(low), log(high)))
