"""Programs that grow where the GPU and the host cannot hold all of them: none is refused."""

from dataclasses import dataclass
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.core.effects import ReportKind
from nvshare.core.memory import Memory
from nvshare.core.settings import Settings

from .program import Program
from .world import World

USABLE = 16
TURN = 4.0
BASE = Settings(turn_seconds=TURN, turn_min=TURN, turn_max=TURN, initial_bandwidth=8.0)
# The most seconds that a program may take, whichever programs go before it.
LONGEST = 2000.0


@dataclass
class Life:
    """A program that grows piece by piece, uses each piece, computes for a while, and ends."""

    program: Program
    pieces: list[int]
    seconds: float
    asks: bool = False

    def step(self, world: World) -> None:
        """Go on, if it can."""
        program = self.program
        if self.asks:
            # It waits for the answer.
            self.asks = program.without is not None
        elif not program.gate_is_open:
            program.work()
        elif program.memory.swapped:
            program.touch()
        elif self.pieces:
            self.asks = True
            size = self.pieces.pop(0)
            memory = program.memory
            more = Memory(memory.allocated + size, 0, memory.swapped + size)
            program.ask(more, fresh=size)
        elif program.held >= self.seconds:
            world.die(program)


growth = st.lists(st.integers(1, 6), min_size=1, max_size=4)
lives = st.tuples(
    growth.filter(lambda pieces: sum(pieces) <= USABLE),
    st.floats(0, 3 * TURN),
)


@settings(max_examples=60)
@given(
    lives=st.lists(lives, min_size=2, max_size=4),
    # As large as the GPU, or larger.
    host=st.integers(USABLE, 40),
    random=st.randoms(use_true_random=False),
)
def test_all_end_and_nobody_is_refused(
    lives: list[tuple[list[int], float]], host: int, random: Random
) -> None:
    """Each program fits on the GPU, and the host is not smaller than the GPU."""
    assert run(lives, host, random) == []


@settings(max_examples=30)
@given(
    lives=st.lists(lives, min_size=2, max_size=4),
    host=st.integers(0, USABLE),
    random=st.randoms(use_true_random=False),
)
def test_with_a_smaller_host_somebody_may_be_refused_but_nobody_waits_for_ever(
    lives: list[tuple[list[int], float]], host: int, random: Random
) -> None:
    run(lives, host, random)


def run(lives: list[tuple[list[int], float]], host: int, random: Random) -> list[str]:
    """Run the programs, with messages that are late now and then. Returns the refusals."""
    world = World(USABLE, BASE, host)
    begun = [Life(world.join(Memory()), list(pieces), seconds) for pieces, seconds in lives]
    while world.programs and world.now < LONGEST:
        for life in random.sample(begun, len(begun)):
            if life.program.id in world.programs:
                _talk(world, life.program, random)
                life.step(world)
        world.advance(random.choice([0.0, 0.1, 0.5]))
    assert not world.programs, "a client waits for ever"
    return [report.text for report in world.reports if report.kind is ReportKind.HOST_FULL]


def _talk(world: World, program: Program, random: Random) -> None:
    """Let some of its messages arrive."""
    while program.outbox and random.random() < 0.7:
        world.deliver(program)
    while program.inbox and random.random() < 0.7:
        program.read(world.now)
