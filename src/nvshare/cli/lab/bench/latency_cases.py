"""The cases of `nvshare bench latency`: programs that want a GPU now and then, beside trainers."""

from dataclasses import dataclass, replace

from nvshare.limits.fields import PriorityName

GB = 1_000_000_000
MODEL = "t4"


@dataclass(frozen=True)
class Asker:
    """A program that wants the GPU for ``seconds`` now and then.

    It asks again after a rest of ``rest`` to ``rest_most``. With a ``rate``, requests come at
    random instead, this many per second on average, and queue.
    """

    memory: int
    seconds: float
    rest: float = 0.0
    rest_most: float = 0.0
    rate: float | None = None


@dataclass(frozen=True)
class Case:
    """Programs that share a GPU. ``trainers``: the memory of those that compute all the time."""

    name: str
    askers: tuple[Asker, ...]
    trainers: tuple[int, ...] = ()
    # Of the askers.
    priority: PriorityName = "normal"
    # By then all programs have started, and have had their first turns.
    warm_up: float = 120.0
    # In the simulator, and on the emulator; and the speed of the emulated node.
    seconds: float = 1800.0
    played_seconds: float = 600.0
    speed: float = 5.0
    # How many nodes play it, each with its own random requests: emulated ones at the same time.
    nodes: int = 4
    # Settings that differ from the defaults, by name.
    settings: tuple[tuple[str, float | str], ...] = ()

    def taken_of(self, room: int) -> int:
        """Return the memory that trainers have on the GPU at a time.

        With policy batch, that is one of them; and if they do not fit together, one has to do.
        """
        takes_turns = ("policy", "batch") in self.settings or sum(self.trainers) > room
        return min(room, max(self.trainers) if takes_turns else sum(self.trainers))


def popularity(count: int) -> list[float]:
    """Return probabilities by Zipf's law, in proportion to 1, 1/2, 1/3, …, with the sum 1."""
    weights = [1 / (place + 1) for place in range(count)]
    return [weight / sum(weights) for weight in weights]


def _serving(name: str, rate: float) -> Case:
    models = tuple(Asker(5 * GB, 0.2, rate=rate * part) for part in popularity(6))
    # Reports of resting programs take real time: a lower speed is closer to a real GPU. Half of the
    # requests find at least a part of their model there, so that a median needs many requests.
    return Case(name, models, seconds=600.0, played_seconds=240.0, speed=1.0, nodes=8)


_TRAINER = (12 * GB,)
_NOTEBOOK = Asker(8 * GB, 1.0, 20.0, 25.0)
# It rests little longer than the time to move its memory in and the trainer's back.
_FREQUENT = Asker(8 * GB, 0.2, 1.0, 1.5)

# What programs have used, and what a GPU has saved for them, is remembered for minutes: notebooks
# that want more than their part are served at once until that is used up.
_REMEMBERED_S = 360.0

_BESIDE_A_TRAINER = (
    Case("notebook", (_NOTEBOOK,), _TRAINER),
    # The trainers run to their ends, one after the other.
    Case("notebook-batch", (_NOTEBOOK,), _TRAINER * 3, settings=(("policy", "batch"),)),
    Case("three-notebooks", (_NOTEBOOK,) * 3, _TRAINER, played_seconds=900.0),
    Case("frequent", (_FREQUENT,), _TRAINER, seconds=600.0),
)

CASES: tuple[Case, ...] = (
    *(
        replace(case, priority=priority, warm_up=_REMEMBERED_S)
        for case in _BESIDE_A_TRAINER
        for priority in ("normal", "high")
    ),
    _serving("serving-light", 0.5),
    _serving("serving-medium", 1.0),
    _serving("serving-heavy", 1.5),
)
