"""The plan of a campaign: from a seed to programs and faults. Starts and breaks nothing itself.

The same seed gives the same programs and the same faults in the same order, however long a campaign
lasts: a longer one begins with the faults of a shorter one. Faults come in acts. After each act
there is a pause, in which every program has to go on.

Kinds of faults are dealt as from a deck of cards: each comes once before any comes again, so that a
short campaign has seen many of them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Target: TypeAlias = Literal["program", "gpu", "node"]
Allocation: TypeAlias = Literal["managed", "explicit"]


@dataclass(frozen=True)
class Shape:
    """The target of a kind of fault, its longest duration, and its possible values."""

    target: Target
    shortest: float = 0.0
    longest: float = 0.0
    values: tuple[str, ...] = ("",)
    # The number of its cards in the deck.
    cards: int = 1


# Changes that are taken back afterwards.
_SETTINGS = (
    *("turn_seconds=0.02", "turn_seconds=2", "mode=serial", "mode=concurrent", "mode=off"),
    *("policy=fifo", "policy=batch", "interactive=throughput", "interactive=prompt", "gangs=false"),
    *("swap_excess=true", "lab.slice_seconds=0.05", "lab.inflight=0.2", "idle_park=0.2"),
)

KINDS: dict[str, Shape] = {
    "kill-program": Shape("program", values=("one", "all"), cards=2),
    "stop-program": Shape("program", 0.2, 4.0, ("one", "all"), cards=2),
    "interrupt-program": Shape("program", 0.5, 2.0),
    "park-program": Shape("program", 0.3, 3.0),
    "limit-memory": Shape("program", 0.5, 4.0, ("64Mi", "256Mi")),
    "limit-compute": Shape("program", 0.5, 4.0, ("10", "60")),
    "change-priority": Shape("program", 0.5, 4.0, ("high", "low")),
    "kill-daemon": Shape("node", 0.0, 2.0, cards=2),
    "stop-daemon": Shape("node", 0.2, 5.0),
    "end-daemon": Shape("node", 0.0, 1.0),
    "upgrade-daemon": Shape("node", 1.0, 5.0, ("earlier", "later")),
    "reload-daemon": Shape("node"),
    "remove-socket": Shape("node", 0.0, 0.0, ("nvshare.sock", "control.sock", "look.sock")),
    "few-descriptors": Shape("node", 0.5, 4.0, ("0", "2", "8")),
    "little-host-memory": Shape("node", 0.5, 4.0, ("0", "32Mi", "128Mi")),
    "small-cgroup": Shape("node", 1.0, 5.0, ("80", "128")),
    "exhausted-host": Shape("node", 1.0, 5.0, ("0", "64")),
    "small-program-cgroup": Shape("program", 1.0, 5.0, ("192", "224")),
    "full-disk": Shape("node", 0.5, 4.0),
    "full-shm": Shape("node", 0.5, 4.0),
    "lose-gpu": Shape("gpu", 0.5, 5.0),
    "unsupported-gpu": Shape("gpu", 0.5, 5.0),
    "steal-memory": Shape("gpu", 0.5, 3.0, ("32Mi", "128Mi")),
    "change-setting": Shape("gpu", 0.5, 5.0, _SETTINGS, cards=2),
}

# Every n-th call of a kind fails, which explicit memory has to survive: out of memory (2), or
# unknown (999) where memory is given back.
_REFUSED = (
    *("create/37=2", "map/41=2", "access/43=2", "reserve/29=2", "register/5=2"),
    *("unmap/47=999", "release/53=999", "create/61=2,map/59=2,register/7=2"),
)


# The programs of a small campaign.
_SMALL = (0, 1, 5, 7)


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong."""

    at: float  # seconds after its act has begun
    kind: str
    seconds: float  # until it is put right; 0: it is over at once
    target: int  # which program or GPU, modulo how many there are
    value: str = ""

    def __str__(self) -> str:
        what = f"{self.kind} {self.target}" if self.on != "node" else self.kind
        lasting = f" for {self.seconds:.2f} s" if self.seconds else ""
        return f"+{self.at:.2f} s {what}{' ' if self.value else ''}{self.value}{lasting}"

    @property
    def on(self) -> Target:
        """The kind of its target."""
        return KINDS[self.kind].target


@dataclass(frozen=True)
class Role:
    """One program of the campaign. It is started again whenever it ends."""

    number: int
    # keeper and fuzzer are in native/tests; ranks are two processes that use a GPU each, and
    # threads one that uses both (lab/workloads/driver/ranks.c). A streamer fills its launch queue,
    # and never waits for its work (add.c there).
    program: Literal["keeper", "fuzzer", "ranks", "threads", "streamer"]
    allocation: Allocation
    gpu: int  # the only one, or the first
    # Calls of the driver that it is refused (NVSHARE_EMULATOR_FAIL).
    refused: str = ""
    # Its library talks like an earlier version (native/tests/earlier_client.c).
    is_earlier: bool = False

    @property
    def gpus(self) -> tuple[int, ...]:
        """All GPUs that it uses."""
        return (0, 1) if self.program in ("ranks", "threads") else (self.gpu,)

    def __str__(self) -> str:
        refused = f", refused {self.refused}" if self.refused else ""
        earlier = ", of an earlier day" if self.is_earlier else ""
        return f"{self.number}: {self.program}, {self.allocation}, GPU {self.gpu}{refused}{earlier}"


@dataclass(frozen=True)
class Act:
    """Faults that happen in the same seconds."""

    number: int
    faults: tuple[Fault, ...]


def choose_roles(seed: int, *, is_small: bool = False) -> tuple[Role, ...]:
    """Return the programs of a campaign: more than fit, on both GPUs, alone and in gangs.

    A small campaign has fewer of them, on the first GPU, and a gang.
    """
    chance = random.Random(f"{seed} cast")

    def either() -> Allocation:
        return chance.choice(("managed", "explicit"))

    roles = (
        Role(0, "keeper", "managed", 0),
        Role(1, "keeper", "explicit", 0, refused=chance.choice(_REFUSED)),
        Role(2, "keeper", "managed", 1, is_earlier=True),
        Role(3, "fuzzer", "explicit", 1),
        Role(4, "fuzzer", either(), 0),
        Role(5, "ranks", either(), 0),
        Role(6, "threads", either(), 0),
        Role(7, "streamer", "managed", 0),
        Role(8, "streamer", "managed", 0),
    )
    return tuple(role for role in roles if role.number in _SMALL) if is_small else roles


def acts(seed: int, kinds: Sequence[str] | None = None) -> Iterator[Act]:
    """Deal the acts of a campaign, without end. ``kinds`` are those that are possible here."""
    chance = random.Random(f"{seed} acts")
    cards = _cards(chance, kinds or list(KINDS))
    number = 0
    while True:
        number += 1
        faults = [_fault(chance, next(cards)) for _ in range(chance.choice((1, 2, 2, 3)))]
        yield Act(number, tuple(sorted(faults, key=lambda fault: fault.at)))


def _cards(chance: random.Random, kinds: Sequence[str]) -> Iterator[str]:
    while True:
        deck = [kind for kind in kinds for _ in range(KINDS[kind].cards)]
        chance.shuffle(deck)
        yield from deck


def _fault(chance: random.Random, kind: str) -> Fault:
    shape = KINDS[kind]
    return Fault(
        at=round(chance.uniform(0, 1.5), 2),
        kind=kind,
        seconds=round(chance.uniform(shape.shortest, shape.longest), 2),
        target=chance.randrange(1 << 16),
        value=chance.choice(shape.values),
    )
