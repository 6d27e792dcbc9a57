"""The promises about gangs, with numbers, for programs that behave.

In test_gangs.py anything may happen, so a rule that only makes gangs quick is not missed there.
Here nobody is stopped, hangs or is refused room: whatever takes longer than it must is a mistake.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.core.effects import ReportKind
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.settings import Settings

from .collective import Collective
from .inside import Card, picture
from .program import Program
from .world import GPU, World

GPUS = (GPU, "gpu1", "gpu2")
USABLE = 16
TURN = 6.0
# All memory of a device leaves and comes at the pace of the programs, twice 16 bytes at 8 a second.
MOVES = 4.0
LOOK = 0.25
# How long a GPU may be empty although somebody waits for it, and a gang may have turns in part: as
# long as a gang on other GPUs takes to give way.
SHORT = 2.0
# How long work in flight may take, at the most.
DRAINS = (0.0, 0.001, 0.01, 0.2)
# A gang's ranks catch up with each other, call by call, within this time.
STEPS = 1.0
AMPLE = 1_000_000

fixed = Settings(
    turn_seconds=TURN, turn_min=TURN, turn_max=TURN, revoke_patience=8.0, initial_bandwidth=8.0
)


class Choice(NamedTuple):
    """A program: its GPUs, its size on each, and how long its work in flight takes.

    Then the calls from one collective to the next, and how unequal its ranks are.
    """

    gpus: tuple[str, ...]
    size: int
    drain: float
    distance: int = 1
    stagger: int = 0


class Party:
    """A program: of one process, or of ranks that wait for each other."""

    def __init__(self, world: World, name: str, choice: Choice) -> None:
        self._world = world
        self.choice = choice
        self.group = name if len(choice.gpus) > 1 else ""
        self.collective = Collective(choice.distance, choice.stagger)
        world.collectives[name] = self.collective
        self.ranks: list[Program] = []

    def come(self, gpus: Sequence[str]) -> None:
        """Have processes begin. The first ones wait for the others in a collective."""
        for gpu in gpus:
            size = Memory(self.choice.size, 0, self.choice.size)
            drain = self.choice.drain
            rank = self._world.join(size, drain=drain, gpu=gpu, group=self.group)
            rank.work()
            self.ranks.append(rank)
        self.collective.is_partial = len(self.ranks) < len(self.choice.gpus)

    def grow(self) -> None:
        """Have another rank begin on its first GPU, once, if both fit there together."""
        is_whole = self.group and len(self.ranks) == len(self.choice.gpus)
        if is_whole and 2 * self.choice.size <= USABLE:
            self.come(self.choice.gpus[:1])

    def work(self) -> None:
        """Have something to run."""
        for rank in self.ranks:
            rank.work()

    def rest(self) -> None:
        """Have nothing to run, once all that was launched can end."""
        if all(rank.gate_is_open for rank in self.ranks):
            if self.group:
                self.collective.end([rank.id for rank in self.ranks])
            for rank in self.ranks:
                rank.rest(self._world.now)


drains = st.sampled_from(DRAINS)
large = st.integers(USABLE // 2 + 1, USABLE)
distances, staggers = st.integers(1, 3), st.integers(0, 3)
several = st.sets(st.sampled_from(GPUS), min_size=1).map(sorted).map(tuple)
choices = st.builds(Choice, several, st.integers(1, USABLE), drains, distances, staggers)


def _large(*gpus: str) -> st.SearchStrategy[Choice]:
    return st.builds(Choice, st.just(gpus), large, drains, distances, staggers)


times = st.floats(0, 2 * TURN)
deeds = st.sampled_from(["rest", "work", "work", "grow", "restart"])
scripts = st.lists(st.tuples(deeds, st.integers(0, 4), times), max_size=8)


class History:
    """Programs that do what a script says, and how long anything lasts that should be short."""

    def __init__(
        self, chosen: Sequence[Choice], *, at_first: int = len(GPUS), torn: float = SHORT
    ) -> None:
        """Have programs begin, each with so many of its ranks.

        ``torn`` is how long a gang may have turns in part.
        """
        self._torn = torn
        self.world = World(USABLE, fixed, AMPLE, GPUS)
        self.parties: list[Party] = []
        # By the first process of a program: since when it waits although all its GPUs are empty,
        # and since when it has turns in part.
        self.empty: dict[int, float] = {}
        self.apart: dict[int, float] = {}
        for choice in chosen:
            self.begin(choice, at_first)

    def begin(self, choice: Choice, at_first: int = len(GPUS)) -> None:
        """Have a program begin with so many of its ranks."""
        party = Party(self.world, f"party {len(self.parties)}", choice)
        self.parties.append(party)
        party.come(choice.gpus[:at_first])

    def run(self, script: list[tuple[str, int, float]]) -> None:
        """Do what the script says, and look all the time."""
        for what, who, seconds in script:
            party = self.parties[who % len(self.parties)]
            match what:
                case "work":
                    party.work()
                case "rest":
                    party.rest()
                case "grow":
                    party.grow()
                case "restart":
                    self.world.restart_daemon()
            self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass, and look all the time."""
        end = self.world.now + seconds
        while self.world.now < end:
            self.world.advance(LOOK)
            self._look()

    def _look(self) -> None:
        world, now = self.world, self.world.now
        overdue = [one.client for one in world.reports if one.kind is ReportKind.OVERDUE]
        assert not overdue, f"{overdue} did not give way in time"
        if any(now < card.reconnect_until + LOOK for card in world.cards):
            self.empty, self.apart = {}, {}
            return
        empty = {gpu: not any(one.holds for one in card.clients) for gpu, card in _cards(world)}
        for party in self.parties:
            clients = [world.client(rank) for rank in party.ranks]
            waits = all(one.state is State.WAITING for one in clients)
            name = party.ranks[0].id
            is_empty = waits and all(empty[one.device] for one in party.ranks)
            self._last(self.empty, name, is_empty, SHORT)
            halves = {one.holds for one in clients if one.state is not State.IDLE}
            self._last(self.apart, name, party.group and len(halves) == 2, self._torn)
        for client in (one for card in world.cards for one in card.waiting):
            assert now - client.since <= self._bound, f"{client.id} waits\n{picture(world.core)}"

    def _last(self, since: dict[int, float], what: int, is_so: object, most: float) -> None:
        """Note that something is so at present. Raises if it has been for too long."""
        if not is_so:
            since.pop(what, None)
            return
        began = since.setdefault(what, self.world.now)
        assert self.world.now - began <= most, f"{what} since {began}\n{picture(self.world.core)}"

    @property
    def _bound(self) -> float:
        """Everybody else may have a turn before one, and again if it has just begun."""
        return len(self.parties) * (TURN + MOVES + STEPS)


def _cards(world: World) -> Iterator[tuple[str, Card]]:
    return zip(GPUS, world.cards, strict=True)


@settings(max_examples=25)
@given(chosen=st.lists(choices, min_size=2, max_size=5), script=scripts)
def test_no_gpu_is_empty_and_no_gang_is_torn_for_long(
    chosen: list[Choice], script: list[tuple[str, int, float]]
) -> None:
    history = History(chosen)
    history.run(script)
    history.advance(3 * TURN)


@settings(max_examples=20)
@given(
    alone=_large(GPUS[0]),
    goes=_large(GPUS[1]),
    gang=_large(*GPUS[:2]),
    guest=_large(GPUS[1]) | _large(*GPUS[1:]),
    seconds=st.floats(0.1, 1),
)
def test_who_fits_uses_what_a_gang_cannot_use_yet(
    alone: Choice, goes: Choice, gang: Choice, guest: Choice, seconds: float
) -> None:
    """A gang waits for two GPUs. One becomes free, and others may use it as guests."""
    history = History([alone, goes, gang])
    history.advance(seconds)
    history.begin(guest)
    history.advance(LOOK)
    for rank in history.parties.pop(1).ranks:
        history.world.die(rank)
    history.advance(2 * TURN)


@settings(max_examples=25)
@given(
    first=_large(*GPUS[:2]),
    second=_large(*GPUS[1::-1]),
    others=st.lists(_large(GPUS[0]) | _large(GPUS[1]), max_size=1),
    # The turns of ranks that came first are not over by then.
    delays=st.tuples(st.floats(0, TURN / 3), st.floats(0, TURN / 3)),
)
def test_gangs_that_begin_the_other_way_round_catch_up(
    first: Choice, second: Choice, others: list[Choice], delays: tuple[float, float]
) -> None:
    """The first ranks run, each on another GPU, and wait for ranks that have no room there."""
    # A rank that is let in to catch up may have to wait until others have moved out.
    history = History([first, second, *others], at_first=1, torn=MOVES + STEPS)
    for party, seconds in zip(history.parties[:2], delays, strict=True):
        history.advance(seconds)
        party.come(party.choice.gpus[1:])
    history.advance(4 * TURN)
