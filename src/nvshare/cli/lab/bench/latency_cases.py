"""What `nvshare bench latency` measures: who wants a GPU now and then, and who computes beside."""

from dataclasses import dataclass, replace

from nvshare.limits.fields import PriorityName

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
    # In the simulator, and on the emulator; and how many emulated seconds a real one has there.
    seconds: float = 3600.0
    played_seconds: float = 900.0
    speed: float = 10.0
    # Those that are not as they are by default, by their names.
    settings: tuple[tuple[str, float], ...] = ()


def popularity(count: int) -> list[float]:
    """Return how likely each of so many is to be asked, by Zipf's law: 1, 1/2, 1/3, …, in all 1."""
    weights = [1 / (place + 1) for place in range(count)]
    return [weight / sum(weights) for weight in weights]


def _serving(name: str, rate: float) -> Case:
    models = tuple(Asker(5 * GB, 0.2, rate=rate * part) for part in popularity(6))
    # What is heard of programs that rest comes in real seconds: the slower, the nearer to a GPU.
    return Case(name, models, played_seconds=240.0, speed=3.0)


_TRAINER = (12 * GB,)
_NOTEBOOK = Asker(8 * GB, 1.0, 20.0, 25.0)
# It rests for little longer than it takes to move its memory in, and the trainer's back.
_FREQUENT = Asker(8 * GB, 0.2, 1.0, 1.5)

_BESIDE_A_TRAINER = (
    Case("notebook", (_NOTEBOOK,), _TRAINER),
    Case("three-notebooks", (_NOTEBOOK,) * 3, _TRAINER),
    # What moves for these takes a fifth of the time.
    Case("three-notebooks", (_NOTEBOOK,) * 3, _TRAINER, settings=(("move_budget", 0.25),)),
    Case("frequent", (_FREQUENT,), _TRAINER, seconds=1200.0, played_seconds=600.0),
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
