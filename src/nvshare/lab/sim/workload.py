"""A program as a sequence of actions, in order and without their times.

The duration of an action, and whether the program has to wait for it, are not known here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from nvshare.lab.emulator.profile import Profile
from nvshare.lab.sim.scenario import Phase, Program, WorkloadName

MIB = 1 << 20
MICROSECOND = 1e-6


@dataclass(frozen=True, slots=True)
class Sleep:
    """The GPU is not used for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Connect:
    """The first call to the GPU: a context is made, and the program is known from then on."""


@dataclass(frozen=True, slots=True)
class Resize:
    """From now on this much memory is allocated."""

    allocated: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes are copied to memory that was not used before."""

    size: int


@dataclass(frozen=True, slots=True)
class Compute:
    """So many kernels, queued one behind the other. ``iteration`` is how many make an iteration."""

    kernels: int
    seconds: float
    touch: int
    iteration: int = 1


@dataclass(frozen=True, slots=True)
class Meet:
    """A kernel that spins until the same one of all other ranks runs."""


@dataclass(frozen=True, slots=True)
class Request:
    """The next request comes so long after the one before, or after the beginning of the phase.

    If the work before is not done by then, the request waits.
    """

    after: float


Action: TypeAlias = Sleep | Connect | Resize | Copy | Compute | Meet | Request


# Assumed: a sleeping program is woken up to half a millisecond late. Programs that begin at one
# moment and are at most 0.1 ms late meet at the GPU in every iteration, forever: T6 then takes
# 1.17 times as long as ideal. With 0.5 to 50 ms it is 1.004 to 1.021.
WAKE_JITTER = 0.0005


def _tensors(side: int, iterations: int, idle: float = 0.0) -> tuple[Phase, ...]:
    """The same as driver/add.c of lab/workloads: copy x and y in, then z = x + y, two z alive."""
    exact = 4 * side * side
    allocated = -(-exact // (2 * MIB)) * 2 * MIB
    return (
        Phase(memory=allocated, copy_in=exact),
        Phase(memory=2 * allocated, copy_in=exact),
        Phase(
            memory=4 * allocated,
            touch=3 * exact,
            iterations=iterations,
            idle=idle,
            idle_jitter=WAKE_JITTER if idle else 0.0,
        ),
    )


WORKLOADS: dict[WorkloadName, tuple[Phase, ...]] = {
    "pytorch-add": _tensors(28000, 4000),
    "pytorch-add-small": _tensors(14000, 40000),
    "pytorch-add-idle-small": _tensors(14000, 4000, idle=0.1),
}


def phases_of(program: Program) -> tuple[Phase, ...]:
    """Return all phases, with ``memory`` and ``touch`` filled in."""
    phases = program.phase or WORKLOADS[program.workload or "pytorch-add"]
    if program.iterations is not None:
        last = phases[-1].model_copy(update={"iterations": program.iterations})
        phases = (*phases[:-1], last)
    filled, memory = [], 0
    for phase in phases * program.repeat:
        memory = memory if phase.memory is None else phase.memory
        touch = memory if phase.touch is None else min(phase.touch, memory)
        filled.append(phase.model_copy(update={"memory": memory, "touch": touch}))
    return tuple(filled)


def kernel_of(phase: Phase, profile: Profile) -> Compute:
    """Return a phase's work on a GPU."""
    touch = phase.touch or 0
    seconds = phase.kernel_seconds or touch / (profile.memory.bandwidth_gb_per_s * 1e9)
    seconds = max(seconds, profile.engine.kernel_floor_us * MICROSECOND)
    return Compute(phase.iterations * phase.kernels, seconds, touch, phase.kernels)


def actions(program: Program, profile: Profile, random: Random) -> Iterator[Action]:
    """Yield the actions of the program on a GPU of this profile, from its start to its end."""
    if program.startup:
        yield Sleep(program.startup)
    yield Connect()
    for phase in phases_of(program):
        if phase.wait:
            yield Sleep(phase.wait)
        yield Resize(phase.memory or 0)
        if phase.copy_in:
            yield Copy(phase.copy_in)
        if program.ranks:
            yield from _meet(_iterate_synchronously(phase, profile, random))
        else:
            yield from _iterate(phase, profile, random)


def _iterate(phase: Phase, profile: Profile, random: Random) -> Iterator[Action]:
    work = kernel_of(phase, profile)
    if phase.synchronises:
        yield from _iterate_synchronously(phase, profile, random)
    elif work.kernels:
        yield work


def _meet(iterations: Iterator[Action]) -> Iterator[Action]:
    """Yield the same, with a meeting of all ranks at the beginning of each iteration."""
    for action in iterations:
        if isinstance(action, Compute):
            yield Meet()
        yield action


def _iterate_synchronously(phase: Phase, profile: Profile, random: Random) -> Iterator[Action]:
    """Yield iterations one by one."""
    one = replace(kernel_of(phase, profile), kernels=phase.kernels)
    if phase.rate is not None:
        for _ in range(phase.iterations):
            yield Request(random.expovariate(phase.rate))
            yield one
        return
    # Nothing is queued, so the latency of a launch shows.
    pause = phase.idle + profile.engine.launch_us * MICROSECOND
    for _ in range(phase.iterations):
        yield one
        if phase.synchronises:
            yield Sleep(pause + phase.idle_jitter * random.random())


def alone_seconds(program: Program, profile: Profile) -> tuple[float, float]:
    """Return how long a program takes alone, and how much of that it rests by its own will.

    Alone means without nvshare too: plain memory, which costs nothing to touch first.
    """
    total = program.startup + profile.engine.context_create_ms / 1000
    rest = 0.0
    for phase in phases_of(program):
        work = kernel_of(phase, profile)
        total += phase.copy_in / (profile.bus.host_to_device_gb_per_s * 1e9)
        total += work.kernels * work.seconds
        rest += phase.wait
        if phase.rate is not None:
            rest += phase.iterations * max(0.0, 1 / phase.rate - phase.kernels * work.seconds)
        elif phase.synchronises:
            pause = phase.idle + phase.idle_jitter / 2 + profile.engine.launch_us * MICROSECOND
            rest += phase.iterations * pause
    return total + rest, rest
