"""A node in virtual time: one core, its timers, and programs that talk to it.

Messages wait until a test delivers them, so they can cross in every way. ``feed`` checks the
invariants after every single event.
"""

from dataclasses import replace

from nvshare.core.core import Core
from nvshare.core.effects import (
    Answer,
    CancelHandover,
    CancelTimer,
    Effect,
    Evict,
    Grant,
    Handover,
    Hold,
    Keep,
    Report,
    Revoke,
    Room,
    SetLimits,
    SetTimer,
    StepOnce,
    Trim,
    Urgency,
    Verdict,
)
from nvshare.core.events import (
    ClientJoined,
    DeviceAdded,
    Event,
    HostMemoryChanged,
    HostRoomChanged,
    MemoryChanged,
    Released,
    Timer,
    TimerFired,
)
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.settings import Settings

from .checks import check_grants, check_share
from .circles import Circles
from .collective import Collective
from .inside import Card, Known, card, cards, resting, states
from .program import HandoverOrder, Numbered, Program, Standby
from .times import FollowedTime

GPU = "gpu"
RECONNECT_SECONDS = 1.0
# Small, so that journals are long enough to begin a new page.
JOURNAL_EVENTS = 16
# Far more than any history has: messages at one moment, and all events of one advance.
MOST_AT_ONCE = 2_000
MOST_ON_THE_WAY = 20_000


class World:
    """One or several devices, and the programs that use them."""

    def __init__(
        self,
        usable_bytes: int,
        settings: Settings,
        host_limit: int = 1_000_000,
        gpus: tuple[str, ...] = (GPU,),
    ) -> None:
        self.now = 100.0
        self.gpus = gpus
        self.usable_bytes = usable_bytes
        self.settings = settings
        self.host_limit = host_limit
        self.programs: dict[int, Program] = {}
        self.joined = 0
        self.reports: list[Report] = []
        self.switches = 0
        self.slices = 0
        # The sockets of hand-overs: how many there were, and which were written to.
        self._descriptors = 0
        self._written: set[int] = set()
        # The limit of each memory cgroup, and the clients in it.
        self.cgroups: dict[str, tuple[int, list[int]]] = {}
        # The last hold or step order sent to each client, unless it is over.
        self.numbers: dict[int, int] = {}
        self._last_number = 0
        # The collectives that the ranks of a group wait for.
        self.collectives: dict[str, Collective] = {}
        # When a client last waited for memory of others that could not leave.
        self.held_up: dict[int, float] = {}
        # The clients that wait for room for a context, with their tickets.
        self.newcomers: set[tuple[int, int]] = set()
        self._at_once = Circles(MOST_AT_ONCE, "at the same time")
        self._on_the_way = Circles(MOST_ON_THE_WAY, "in one advance")
        self.start_daemon(reconnect_seconds=0.0)

    def start_daemon(self, reconnect_seconds: float) -> None:
        self.core = Core(check=True, journal_events=JOURNAL_EVENTS)
        self.times = FollowedTime(self.core)
        self.timers: dict[Timer, float] = {}
        self.turns: dict[int, int] = {}
        self.feed(HostMemoryChanged(now=self.now, limit=self.host_limit))
        for gpu in self.gpus:
            self.feed(
                DeviceAdded(
                    now=self.now,
                    device=gpu,
                    usable_bytes=self.usable_bytes,
                    settings=self.settings,
                    reconnect_seconds=reconnect_seconds,
                )
            )

    def restart_daemon(self, *, in_vain: bool = False) -> None:
        """Let the daemon die. A new one learns everything from the programs.

        It comes soon, or programs without a turn have waited for it in vain.
        """
        self.start_daemon(RECONNECT_SECONDS)
        for program in self.programs.values():
            program.register(program.device, self.now, may_wait=not in_vain)

    def join(
        self,
        memory: Memory,
        kind: Kind = Kind.MANAGED,
        drain: float = 0.0,
        cgroup: str = "",
        *,
        is_explicit: bool = False,
        tangled: int = 0,
        gpu: str = GPU,
        group: str = "",
        owner: str = "",
    ) -> Program:
        self.joined += 1
        program = Program(
            self.joined,
            kind,
            memory.as_kind(kind),
            drain,
            self._written.add,
            self._written.__contains__,
            is_explicit=is_explicit and kind is Kind.MANAGED,
            tangled=tangled,
            group=group,
            owner=owner,
        )
        if group:
            program.collective = self.collectives[group]
            program.collective.join(program.id)
        self.programs[program.id] = program
        if cgroup:
            self.cgroups[cgroup][1].append(program.id)
        program.register(gpu, self.now)
        return program

    def charged(self, cgroup: str) -> int:
        """The bytes that the programs in a cgroup have on the host."""
        members = (self.programs.get(one) for one in self.cgroups[cgroup][1])
        return sum(program.pages for program in members if program)

    def look(self, cgroup: str) -> None:
        """Tell the core how much a cgroup can take."""
        limit, clients = self.cgroups[cgroup]
        for one in clients:
            if one in self.programs and not self.programs[one].stopped:
                self.programs[one].catch_up(self.now)
        room = limit - self.charged(cgroup)
        self.feed(
            HostRoomChanged(
                now=self.now, pool=cgroup, room=room, limit=limit, clients=tuple(clients)
            )
        )

    def die(self, program: Program) -> None:
        del self.programs[program.id]
        program.die()
        while program.outbox:
            self.deliver(program)

    def client(self, program: Program) -> Known:
        """What the core knows about a program."""
        return card(self.core, program.device)[program.id]

    @property
    def cards(self) -> list[Card]:
        """What the core knows about each device."""
        return cards(self.core)

    def is_known(self, program: Program) -> bool:
        """Whether the core has heard of a program."""
        return program.id in card(self.core, program.device)

    def deliver(self, program: Program) -> None:
        """Deliver a program's oldest message to the core."""
        event = replace(program.outbox.popleft(), now=self.now)
        if isinstance(event, Numbered):
            if self.numbers.get(program.id) != event.number:
                # It has crossed with the message that ended that.
                return
            event = replace(event.event, now=self.now)
        if isinstance(event, ClientJoined):
            for name, (_, members) in self.cgroups.items():
                if program.id in members:
                    self.look(name)
        self.feed(event)

    def _note(self, what: object) -> None:
        for circles in (self._at_once, self._on_the_way):
            circles.note(self.now, what)

    def feed(self, event: Event) -> None:
        self._note(event)
        before, rested = states(self.core), resting(self.core)
        effects = self.core.handle(event)
        self.times.follow(event, effects)
        if isinstance(event, Released):
            before[event.client] = State.IDLE
        self._check(before, effects, rested)
        check_grants(self.cards, event, effects, rested)
        self._check_answer(event, effects)
        self.note_who_is_held_up()
        for effect in effects:
            self._carry_out(effect)

    def deliver_all(self) -> None:
        """Deliver all messages, except orders to stopped programs."""
        self._at_once.begin()
        moving = True
        while moving:
            moving = False
            for program in list(self.programs.values()):
                while program.outbox:
                    self.deliver(program)
                    moving = True
                while program.inbox and not program.stopped:
                    self._note(program.inbox[0])
                    program.read(self.now)
                    moving = True
                if not program.stopped and program.notice(self.now):
                    moving = True

    def advance(self, seconds: float) -> None:
        """Let time pass. Everything due on the way happens on time."""
        end = self.now + seconds
        self._on_the_way.begin()
        self.deliver_all()
        while (moment := self._next_moment()) <= end:
            self._note(f"{moment:g} s is next")
            self._pass_time(max(self.now, moment))
            self._let_happen()
            self.deliver_all()
        self._pass_time(end)

    def _pass_time(self, until: float) -> None:
        for program in self.programs.values():
            if program.open or program.draining:
                program.held += until - self.now
        for group, collective in self.collectives.items():
            ranks = [one for one in self.programs.values() if one.group == group]
            able = [rank.id for rank in ranks if rank.gate_is_open and rank.busy]
            if able and until > self.now:
                collective.run(able)
        self.now = until

    def _next_moment(self) -> float:
        moments = (program.next_moment for program in self.programs.values() if not program.stopped)
        own = (moment for moment in moments if moment is not None)
        return min((*self.timers.values(), *own), default=float("inf"))

    def _let_happen(self) -> None:
        for program in self.programs.values():
            moment = program.next_moment
            if moment is not None and moment <= self.now and not program.stopped:
                program.let_happen(self.now)
        due = [timer for timer, at in self.timers.items() if at <= self.now]
        for timer in due:
            # An earlier one may have changed it.
            if self.timers.get(timer, float("inf")) <= self.now:
                del self.timers[timer]
                self.feed(TimerFired(now=self.now, timer=timer))

    def _card_of(self, client: int) -> Card:
        return next(card for card in self.cards if client in card)

    def _check(self, before: dict[int, State], effects: list[Effect], rested: set[int]) -> None:
        for effect in effects:
            if isinstance(effect, Grant):
                here = self._card_of(effect.client)
                # A client that rests in its gang's turn is granted anew when it goes on.
                goes_on = before.get(effect.client) is State.RUNNING
                assert not goes_on or effect.client in rested, "granted twice"
                assert effect.turn > self.turns.get(effect.client, 0), "an old turn again"
                self.turns[effect.client] = effect.turn
                whole = here[effect.client].swappable
                assert effect.fill_bytes < max(1, whole), "a part that is not smaller"
            elif isinstance(effect, Revoke):
                here = self._card_of(effect.client)
                client = here[effect.client]
                if (
                    client.may_be_parked
                    or client.gang is not None
                    or client.group in self.collectives
                ):
                    # It may have to give way because of another device.
                    continue
                assert not here.everything_fits, "everything fits, but a client was switched"
                if here.is_sliced:
                    assert not effect.evict_bytes, "everything fits, but memory is to move"
                    self.slices += 1
                else:
                    self.switches += 1

    def note_who_is_held_up(self) -> None:
        for here in self.cards:
            for client in here.held_up:
                self.held_up[client.id] = self.now
                if client.group in self.collectives:
                    # The others spin for it, and drain only when it runs.
                    mates = (one for one in self.programs.values() if one.group == client.group)
                    self.held_up |= dict.fromkeys((one.id for one in mates), self.now)
            for client in here.waiting:
                # It waits for a rank of its gang that is held up, or parked.
                if client.stalled:
                    self.held_up[client.id] = self.now

    def _without_newcomers(self, event: Event, effects: list[Effect]) -> list[Answer]:
        """Return the immediate answers. A request for a context is answered once, and later."""
        if isinstance(event, MemoryChanged) and event.ticket and event.for_context:
            self.newcomers.add((event.client, event.ticket))
        answers = [effect for effect in effects if isinstance(effect, Answer)]
        late = {(one.client, one.ticket) for one in answers} & self.newcomers
        self.newcomers -= late
        return [one for one in answers if (one.client, one.ticket) not in late]

    def _check_answer(self, event: Event, effects: list[Effect]) -> None:
        answers = self._without_newcomers(event, effects)
        if not isinstance(event, MemoryChanged) or not event.ticket or event.for_context:
            assert not answers, "answered without having been asked"
            return
        assert answers == effects[-1:], "asked, and not answered at the end"
        assert (answers[0].client, answers[0].ticket) == (event.client, event.ticket)
        if answers[0].verdict is not Verdict.YES:
            reports = [e for e in effects[:-1] if not isinstance(e, Report)]
            assert not reports, "refused, and something was done all the same"
        state = self._card_of(event.client)[event.client].state
        assert state is State.RUNNING or not answers[0].missing, "missing, but does not run"

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case SetTimer():
                self.timers[effect.timer] = effect.at
            case CancelTimer():
                del self.timers[effect.timer]
            case Report():
                self.reports.append(effect)
            case SetLimits():
                check_share(effect)
            case (
                Grant()
                | Revoke()
                | Keep()
                | Hold()
                | StepOnce()
                | Evict()
                | Trim()
                | Answer()
                | Room()
            ):
                self._post(effect.client, effect)
            case Handover():
                self._hand_over(effect)
            case CancelHandover():
                self._post(effect.from_client, effect)
            case _:
                raise AssertionError(effect)

    def _hand_over(self, plan: Handover) -> None:
        self._descriptors += 1
        own = self._descriptors
        self._post(plan.to_client, Standby(plan.turn, plan.fill_bytes, plan.missing, own))
        order = HandoverOrder(plan.from_turn, plan.turn, plan.to_client, own)
        self._post(plan.from_client, order)

    def _post(self, client: int, effect: Effect) -> None:
        if isinstance(effect, Hold | StepOnce):
            self._last_number += 1
            self.numbers[client] = self._last_number
            if client in self.programs:
                self.programs[client].numbers.append(self._last_number)
        elif isinstance(effect, Keep) or (
            isinstance(effect, Revoke) and effect.urgency is Urgency.NOW
        ):
            self.numbers.pop(client, None)
        if client in self.programs:
            self.programs[client].inbox.append(effect)
