"""The properties of the world itself, whatever the core believes. The core checks itself as well.

``check_step`` checks the changes of a step, ``check_rest`` a world in which nothing more happens by
itself.
"""

from nvshare.core.effects import Grant, Hold
from nvshare.core.lease import State
from tests.property.program import Standby

from .case import Case
from .violation import Violation
from .world import Kind, Place, Step, World, is_progress


def check_step(case: Case, before: World, step: Step, after: World) -> World:
    """Raise Violation if a property fails after a step. Returns the world, with a note of a spill.

    Memory beyond the GPU's capacity is excused after a fault, and after a late answer, until
    everything fits again.
    """
    if step.place >= 0 and step.kind is Kind.DO:
        old, new = before.places[step.place].process, after.places[step.place].process
        if old and new and new.is_open and not old.is_open:
            _check_gates(case, after, step.place)
    if not case.faults and not case.lates:
        _check_answers(after)
    after = after._replace(is_spilled=_is_spilled(case, after))
    for gpu in range(case.devices):
        there = [one.process for one in after.places if one.process and one.gpu == gpu]
        on_device = sum(process.on_device for process in there)
        if on_device > case.capacity and not after.is_spilled:
            raise Violation(f"{on_device} units of memory are on a GPU that has {case.capacity}")
    return after


def _check_answers(world: World) -> None:
    """Whoever can do what it is told does so in time, and others wait for it."""
    for index, place in enumerate(world.places, 1):
        client = world.daemon.clients.get(place.id) if world.daemon else None
        if client and client.turn.overdue:
            raise Violation(f"others go on without process {index}, which is not late")


def _is_spilled(case: Case, world: World) -> bool:
    """Whether there is a reason for more memory on the GPU than it has."""
    if not _all_count(world):
        return True
    if not world.is_spilled:
        return False
    return any(
        sum(_reach(place) for place in world.places if place.gpu == gpu) > case.capacity
        for gpu in range(case.devices)
    )


def _reach(place: Place) -> int:
    """Return the memory that a process may have on the GPU by the orders it has had."""
    if place.process is None:
        return 0
    is_coming = any(isinstance(order, Grant | Standby) for order in place.inbox)
    if place.process.holds or is_coming or place.process.standby is not None:
        return place.size
    return place.process.on_device


def _all_count(world: World) -> bool:
    """Whether the daemon counts all processes that have or may bring memory on the GPU."""
    daemon = world.daemon
    if daemon is None or daemon.waives_room:
        return False
    return not any(place.process and _is_excused(world, place) for place in world.places)


def _is_excused(world: World, place: Place) -> bool:
    """Whether the daemon does not count a process, or does not know of it."""
    process, daemon = place.process, world.daemon
    if process is None or process.is_excused or place.deaf or daemon is None:
        return True
    client = daemon.clients.get(place.id)
    if client is None:
        return process.was_welcome
    return client.state is State.YIELDING and client.turn.overdue


def _check_gates(case: Case, world: World, index: int) -> None:
    """No process runs beside others whose memory does not fit beside its own."""
    if _is_excused(world, world.places[index]) or _is_about_to_hold(world.places[index]):
        return
    gpu = world.places[index].gpu
    held = [
        place
        for place in world.places
        if place.gpu == gpu and place.process and place.process.is_open
        if not _is_excused(world, place) and not _is_about_to_hold(place)
    ]
    size = sum(place.size for place in held)
    if len(held) > 1 and size > case.capacity:
        raise Violation(f"{len(held)} run at once, and need {size} units of {case.capacity}")


def _is_about_to_hold(place: Place) -> bool:
    """Whether a rank is to close its gate as soon as it reads on."""
    return any(isinstance(order, Hold) for order in place.inbox)


def check_rest(case: Case, world: World, steps: list[Step]) -> None:
    """Raise Violation if a process waits and nothing is going to happen by itself."""
    del case
    if world.joiners():
        return
    if any(one.kind in (Kind.TICK, Kind.GO_ON) or is_progress(one) for one in steps):
        return
    for index, place in enumerate(world.places):
        if place.process and place.process.waits:
            raise Violation(f"process {index + 1} waits; nothing is on its way, and no timer runs")
