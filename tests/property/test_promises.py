"""The promises about time and memory, with numbers, for programs that behave."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode, Settings

from .program import Program
from .world import World

TURN = 10.0
DRAIN = 0.5
USABLE = 16

fixed = Settings(turn_seconds=TURN, turn_min=TURN, turn_max=TURN)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=2, max_size=8),
    mode=st.sampled_from([Mode.AUTO, Mode.SERIAL]),
    policy=st.sampled_from(["fair", "fifo"]),
)
def test_nobody_waits_longer_than_one_turn_of_everybody_else(
    sizes: list[int], mode: Mode, policy: str
) -> None:
    world = World(USABLE, Settings(mode, policy, TURN, turn_min=TURN, turn_max=TURN))
    programs = [world.join(Memory(size, 0, size), drain=DRAIN) for size in sizes]
    for program in programs:
        program.work()
    # All of them are new, and may interrupt others once.
    bound = len(programs) * (TURN + DRAIN)
    for _ in range(int(4 * bound)):
        world.advance(0.5)
        assert max(_waits(world, programs), default=0.0) <= bound
    assert all(program.seen for program in programs)


def _waits(world: World, programs: list[Program]) -> list[float]:
    clients = [world.client(program) for program in programs]
    return [world.now - client.since for client in clients if client.state is State.WAITING]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.floats(0, 400)),
        max_size=40,
    )
)
def test_while_everything_fits_nobody_is_switched_and_nothing_moves(
    steps: list[tuple[int, int, bool, float]],
) -> None:
    world = World(USABLE, fixed)
    programs = [world.join(Memory()) for _ in range(4)]
    for number, size, busy, seconds in steps:
        program = programs[number % 4]
        program.allocate(Memory(size))
        program.work() if busy else program.rest(world.now)
        world.advance(seconds)
        assert all(program.open and program.seen == program.id for program in programs)
    # Memory allocated before the first turn is brought in, though it is nowhere yet.
    world.advance(1.0)
    assert world.switches == 0
    assert world.timers == {}
    assert all(program.memory.swapped == 0 for program in programs)


@settings(max_examples=20)
@given(
    busy=st.lists(st.booleans(), min_size=2, max_size=6),
    policy=st.sampled_from(["fair", "fifo"]),
)
def test_who_computes_all_the_time_takes_short_turns_and_nobody_else(
    busy: list[bool], policy: str
) -> None:
    world = World(USABLE, Settings(policy=policy, slice_seconds=1.0))
    programs = [world.join(Memory(2), owner="one") for _ in busy]
    for program in programs:
        program.work()
    for _ in range(60):
        world.advance(0.25)
        for program, computes in zip(programs, busy, strict=True):
            program.use((program.held - program.used) * computes)
    computing = [program for program, computes in zip(programs, busy, strict=True) if computes]
    resting = [program for program in programs if program not in computing]
    assert all(program.open and program.seen == program.id for program in resting)
    assert world.switches == 0
    assert all(program.memory.swapped == 0 for program in programs)
    if len(computing) > 1:
        shares = [program.held for program in computing]
        assert max(shares) - min(shares) <= 1.0
        # They ran together until they were known to compute all the time.
        assert sum(shares) == pytest.approx(15.0 + 1.0 * (len(computing) - 1), abs=0.3)
    else:
        assert world.slices == 0


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 16), min_size=2, max_size=6),
    stopped=st.integers(0, 5),
)
def test_a_stopped_program_holds_nobody_up_for_ever(sizes: list[int], stopped: int) -> None:
    world = World(USABLE, fixed)
    programs = [world.join(Memory(size, 0, size)) for size in sizes]
    for program in programs:
        program.work()
    world.deliver_all()
    villain = programs[stopped % len(programs)]
    villain.stopped = True
    patience = world.settings.revoke_patience
    world.advance(len(programs) * (TURN + patience))
    assert all(program.seen for program in programs if program is not villain)


def test_in_slices_a_user_with_many_programs_has_the_part_of_one_with_one() -> None:
    """Others of both are there as well, and rest."""
    world = World(USABLE, Settings(slice_seconds=1.0))
    many = [world.join(Memory(1), owner="many") for _ in range(8)]
    one, *others = [world.join(Memory(1), owner="one") for _ in range(4)]
    computing = [*many[:5], one]
    for program in (*many, one, *others):
        program.work()
    for _ in range(800):
        world.advance(0.25)
        for program in computing:
            program.use(program.held - program.used)
    assert one.held >= 0.9 * sum(program.held for program in computing) / 2
