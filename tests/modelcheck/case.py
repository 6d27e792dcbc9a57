"""One case of the search: its processes, the steps they can take, and the faults they may meet.

A fault is the end of a process, of a connection or of the daemon. following.py says what follows
from each step.
"""

from dataclasses import dataclass

from nvshare.core.settings import Settings
from nvshare.machine import State as MachineState

from .daemon import GPUS, new_daemon
from .following import (
    act_in,
    break_connection,
    kill,
    kill_daemon,
    start,
    tell_daemon,
    without_past,
)
from .forget import RECONNECT_SECONDS, SETTINGS
from .messages import Closed
from .process import Do, Process, new_process
from .world import Kind, Late, Place, Step, World, is_progress


@dataclass(frozen=True)
class Case:
    """Processes of these sizes on a GPU of this capacity, and the number of faults.

    Or on two GPUs: ``gangs`` has a letter for each process, the same for both ranks of a gang. The
    first one is on the first GPU, or on the second if the letter is a capital. A process alone has
    a dot, or a colon on the second GPU.
    """

    sizes: tuple[int, ...]
    faults: int
    capacity: int = 2
    # How often a process, or a message from or to it, is late: time passes before it goes on, and
    # anything else may happen. All else happens at once.
    lates: int = 0
    # Or messages come in every order, while no time passes.
    any_order: bool = False
    # The most messages that may wait for a process.
    unread: int = 6
    is_explicit: bool = False
    # Programs always have something to run; otherwise they begin and end work at any moment.
    is_restless: bool = False
    settings: Settings = SETTINGS
    gangs: str = ""

    @property
    def devices(self) -> int:
        """The number of GPUs."""
        return 2 if self.gangs else 1

    def __str__(self) -> str:
        """Describe the case."""
        sizes = "+".join(map(str, self.sizes))
        parts = [f"programs of {sizes} units on {self.capacity}", f"{self.faults} faults"]
        parts += [f"in gangs {self.gangs}"] if self.gangs else []
        parts += [f"late {self.lates} times"] if self.lates else []
        parts += ["messages in every order"] if self.any_order else []
        parts += ["explicit memory"] if self.is_explicit else []
        parts += ["always busy"] if self.is_restless else []
        return ", ".join(parts)

    def begin(self) -> World:
        """Return the first world: the daemon runs, and no process has connected yet."""
        places = []
        for index, size in enumerate(self.sizes):
            place = Place(size, gpu=self._gpu(index), group=self._group(index))
            places.append(place.empty(self._new(place)))
        return World(
            tuple(places),
            new_daemon(self.capacity, self.settings, 0.0, self.devices),
            faults=self.faults,
            lates=self.lates,
        )

    def _group(self, index: int) -> str:
        return self.gangs[index].strip(".:") if self.gangs else ""

    def _gpu(self, index: int) -> int:
        group = self._group(index)
        if not group:
            return int(self.gangs[index : index + 1] == ":")
        return (self.gangs[:index].count(group) + group.isupper()) % self.devices

    def _new(self, place: Place) -> Process:
        return new_process(
            place.size,
            GPUS[place.gpu],
            place.group,
            is_explicit=self.is_explicit,
            is_busy=self.is_restless,
        )

    def steps(self, world: World) -> list[Step]:
        """Return all steps that can happen."""
        if self.any_order:
            return self._in_any_order(world)
        faults = [one for index in range(len(world.places)) for one in self._faults(world, index)]
        if world.faults and world.daemon:
            faults.append(Step(Kind.KILL_DAEMON))
        return [*(_urgent(world) or self._calm(world)), *faults]

    def _calm(self, world: World) -> list[Step]:
        """Return the steps that can happen while no message is on its way, except late ones."""
        steps: list[Step] = []
        for index, place in enumerate(world.places):
            steps += [one for one in self._own(world, index) if not _is_late(place, one)]
            if place.late:
                steps.append(Step(Kind.GO_ON, index))
            elif world.lates and any(is_progress(one) for one in self._own(world, index)):
                steps.append(Step(Kind.LATE, index, late=Late.STOPS))
        steps += _of_daemon(world)
        if world.daemon and not any(is_progress(one) for one in steps):
            steps += [Step(Kind.TICK, alarm.device) for alarm in world.daemon.alarms]
        return steps

    def _in_any_order(self, world: World) -> list[Step]:
        steps: list[Step] = []
        for index, place in enumerate(world.places):
            # Its own next step may as well come after the daemon has read: the order is invisible.
            steps += [] if place.outbox else self._own(world, index)
            steps += self._faults(world, index)
            if place.outbox and not place.deaf:
                steps.append(Step(Kind.DELIVER, index))
        steps += _of_daemon(world)
        goes_on = any(is_progress(one) for one in steps)
        alarms = world.daemon.alarms if world.daemon else ()
        steps += [Step(Kind.TICK, one.device) for one in alarms if not (one.seconds and goes_on)]
        if world.faults and world.daemon:
            steps.append(Step(Kind.KILL_DAEMON))
        return steps

    def _own(self, world: World, index: int) -> list[Step]:
        """Return the steps that can happen at one place, whatever the daemon does."""
        place = world.places[index]
        process = place.process
        if process is None:
            return [Step(Kind.START, index)]
        rests: tuple[Do, ...] = (Do.REST,) if self.is_restless else ()
        # Work in flight that waits for other ranks does not end, and nothing more is launched.
        rests += (Do.DRAIN, Do.LAUNCH) if place.spins else ()
        steps = [Step(Kind.DO, index, do) for do in process.actions if do not in rests]
        if place.inbox:
            steps += _readings(place, index)
        if process.standby in world.written:
            steps.append(Step(Kind.DO, index, Do.NOTICE))
        if not place.id and world.daemon:
            steps.append(Step(Kind.DO, index, Do.CONNECT))
        in_vain = process.state in (MachineState.NEW, MachineState.WAITING)
        if not place.id and not world.daemon and in_vain:
            steps.append(Step(Kind.DO, index, Do.GIVE_UP))
        return steps

    def _faults(self, world: World, index: int) -> list[Step]:
        if not world.faults:
            return []
        place = world.places[index]
        kinds = [Kind.KILL, Kind.BREAK] if place.id and not place.deaf else [Kind.KILL]
        return [Step(kind, index) for kind in kinds]

    def is_within(self, world: World) -> bool:
        """Whether no process has more messages to read than the bound."""
        return all(len(place.inbox) <= self.unread for place in world.places)

    def follow(self, world: World, step: Step) -> World:
        """Return the world after a step. Raises Violation if a property does not hold."""
        after = self._follow(world, step)
        return after if after.faults else without_past(after)

    def _follow(self, world: World, step: Step) -> World:
        match step.kind:
            case Kind.DO:
                assert step.do is not None
                return act_in(world, step.place, step.do)
            case Kind.START:
                return start(world, step.place, self._new(world.places[step.place]))
            case Kind.DROP:
                place = world.places[step.place].but(inbox=(Closed(),))
                return act_in(world.put(step.place, place), step.place, Do.READ)
            case Kind.LATE:
                place = world.places[step.place].but(late=step.late)
                return world.put(step.place, place)._replace(lates=world.lates - 1)
            case Kind.GO_ON:
                return world.put(step.place, world.places[step.place].but(late=None))
            case Kind.DELIVER | Kind.DELIVER_LAST | Kind.TICK:
                return tell_daemon(world, step)
            case Kind.RESTART:
                daemon = new_daemon(self.capacity, self.settings, RECONNECT_SECONDS, self.devices)
                return world._replace(daemon=daemon)
            case Kind.KILL_DAEMON:
                return kill_daemon(world._replace(faults=world.faults - 1))
            case Kind.KILL:
                return kill(world._replace(faults=world.faults - 1), step.place)
            case Kind.BREAK:
                return break_connection(world._replace(faults=world.faults - 1), step.place)


def _urgent(world: World) -> list[Step]:
    """Return the step of the next message to arrive, if there is one; or it is late, or lost."""
    for index, place in enumerate(world.places):
        stops = place.late is Late.STOPS
        if place.process and place.process.standby in world.written and not stops:
            return [Step(Kind.DO, index, Do.NOTICE)]
    for index, place in enumerate(world.places):
        if place.outbox and not place.deaf and place.late is not Late.SENDS and world.daemon:
            return [Step(Kind.DELIVER, index), *_lateness(world, index, Late.SENDS)]
    if world.daemon and world.ghosts:
        return [Step(Kind.DELIVER_LAST, 0)]
    for index, place in enumerate(world.places):
        if place.inbox and place.late not in (Late.READS, Late.STOPS):
            return [*_readings(place, index), *_lateness(world, index, Late.READS)]
    for index, place in enumerate(world.places):
        if place.process and not place.id and world.daemon and place.late is None:
            return [Step(Kind.DO, index, Do.CONNECT), *_lateness(world, index, Late.STOPS)]
    return []


def _readings(place: Place, index: int) -> list[Step]:
    reads = [Step(Kind.DO, index, Do.READ)]
    is_lossy = len(place.inbox) > 1 and isinstance(place.inbox[-1], Closed)
    return [*reads, Step(Kind.DROP, index)] if is_lossy else reads


def _lateness(world: World, index: int, late: Late) -> list[Step]:
    can = world.lates and world.places[index].late is None
    return [Step(Kind.LATE, index, late=late)] if can else []


def _of_daemon(world: World) -> list[Step]:
    if world.daemon is None:
        return [Step(Kind.RESTART)]
    return [Step(Kind.DELIVER_LAST, index) for index in range(len(world.ghosts))]


def _is_late(place: Place, step: Step) -> bool:
    """Whether a step of a process has to wait until the process goes on."""
    if place.late is Late.STOPS:
        return True
    reads = step.do is Do.READ or step.kind is Kind.DROP
    # Messages sent while nothing arrives would have to wait as well.
    return place.late is Late.READS and reads
