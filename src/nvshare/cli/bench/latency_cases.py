"""What `nvshare bench latency` measures: who wants a GPU now and then, and who computes beside."""

from dataclasses import dataclass, replace

from nvshare.telemetry.settings import PriorityName

GB = 1_000_000_000
MODEL = "t4"


@dataclass(frozen=True)
class Asker:
    """A program that wants the GPU for ``seconds`` now and then.

    It comes back when it has rested, for ``rest`` to ``rest_most``; or, with a ``rate``, requests
    come by chance, so many a second on average, and wait for each other.
    """

    memory: int
    seconds: float
    rest: float = 0.0
    rest_most: float = 0.0
    rate: float | None = None


@dataclass(frozen=True)
class Case:
    """Programs that share a GPU. ``trainers``: the memory of those who compute all the time."""

    name: str
    askers: tuple[Asker, ...]
    trainers: tuple[int, ...] = ()
    # Of those who ask.
    priority: PriorityName = "normal"
    seconds: float = 3600.0


def popularity(count: int) -> list[float]:
    """Return how likely each of so many is to be asked, by Zipf's law: 1, 1/2, 1/3, …, in all 1."""
    weights = [1 / (place + 1) for place in range(count)]
    return [weight / sum(weights) for weight in weights]


def _serving(name: str, rate: float) -> Case:
    models = tuple(Asker(5 * GB, 0.2, rate=rate * part) for part in popularity(6))
    return Case(name, models)


_TRAINER = (12 * GB,)
_NOTEBOOK = Asker(8 * GB, 1.0, 20.0, 25.0)
# It rests for little longer than it takes to move its memory in, and the trainer's back.
_FREQUENT = Asker(8 * GB, 0.2, 1.0, 1.5)

_BESIDE_A_TRAINER = (
    Case("notebook", (_NOTEBOOK,), _TRAINER),
    Case("three-notebooks", (_NOTEBOOK,) * 3, _TRAINER),
    Case("frequent", (_FREQUENT,), _TRAINER, seconds=1200.0),
)

CASES: tuple[Case, ...] = (
    *(
        replace(case, priority=priority)
        for case in _BESIDE_A_TRAINER
        for priority in ("normal", "high")
    ),
    _serving("serving-light", 0.5),
    _serving("serving-medium", 1.0),
    _serving("serving-heavy", 1.5),
)
