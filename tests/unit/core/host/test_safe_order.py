"""Programs that grow where the host is short: there is always one that can end."""

from nvshare.core.effects import Effect, Report, ReportKind, Verdict
from nvshare.core.events import ClientJoined, MemoryChanged, TimerKind
from nvshare.core.host.explain import held_up_clients
from nvshare.core.host.safe_order import ABSENCE, LONGEST_CALM, PAUSES, next_calm, note_gain
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.record.growth import Growth
from nvshare.core.record.turn import Turn
from nvshare.core.settings import Settings

from ..stage import GPU, Stage, granted, told
from .test_host import limited, ordered, reports, verdict

TURN = 4.0


def crowd(host: int, usable: int = 14) -> Stage:
    """Return a stage where 1 runs and has grown to 12 bytes, and 2 and 3 wait, with 3 of 6 used.

    The used part of theirs is on the host, the rest is nowhere.
    """
    stage = limited(host, usable, turn_seconds=TURN)
    stage.join(1)
    ask(stage, 1, 12)
    use(stage, 1)
    for client in (2, 3):
        memory = Memory(6, 0, 6, untouched=3, kept=3)
        event = ClientJoined(now=stage.now, client=client, device=GPU, memory=memory, turn=1)
        stage.core.handle(event)
        stage.want(client)
    return stage


def ask(stage: Stage, client: int, size: int) -> list[Effect]:
    """Request this much. The new part is nowhere yet."""
    before = stage.device.roster.clients[client].memory
    new = size - before.allocated
    memory = Memory(size, 0, before.swapped + new, before.untouched + new, before.kept)
    event = MemoryChanged(now=stage.now, client=client, memory=memory, ticket=1)
    return stage.core.handle(event)


def use(stage: Stage, client: int) -> list[Effect]:
    """Use all memory of a client."""
    before = stage.device.roster.clients[client].memory
    memory = Memory(before.allocated, kept=before.kept)
    return stage.core.handle(MemoryChanged(now=stage.now, client=client, memory=memory))


def give_way(stage: Stage, client: int, swapped: int = 0) -> list[Effect]:
    """Give way, with ``swapped`` bytes moved out."""
    before = stage.device.roster.clients[client].memory
    out = swapped + before.untouched
    memory = Memory(before.allocated, 0, out, before.untouched, max(before.kept, swapped))
    return stage.release(client, memory=memory, moved_bytes=swapped, wants=True)


def hand_over(stage: Stage, client: int) -> list[Effect]:
    """End a turn, and let the next begin."""
    orders = ordered(stage.fire(TimerKind.TURN))
    return give_way(stage, client, orders.get(client, 0))


def test_of_those_who_grow_one_runs_that_can_grow_into_everything() -> None:
    """With both, 12 + 6 bytes would have to leave for either, which keeps 3: that is too much."""
    stage = crowd(19)
    assert granted(hand_over(stage, 1)) == [2]
    assert stage.states() == {1: "waiting", 2: "running", 3: "waiting"}
    for size in (9, 12, 14):
        assert verdict(ask(stage, 2, size)) is Verdict.YES
        use(stage, 2)
        assert stage.states()[2] == "running"


def test_a_host_that_holds_what_they_could_need_lets_them_run_together() -> None:
    stage = crowd(20)
    assert granted(hand_over(stage, 1)) == [2, 3]


def test_a_host_that_holds_everything_is_not_looked_at() -> None:
    stage = crowd(1000)
    hand_over(stage, 1)
    assert stage.states() == {1: "waiting", 2: "running", 3: "running"}
    assert TimerKind.GROWTH not in stage.device.state.alarms


def test_who_would_take_the_last_hope_keeps_what_it_asks_for_and_waits_with_it() -> None:
    stage = crowd(20)
    hand_over(stage, 1)
    use(stage, 2)
    use(stage, 3)
    effects = ask(stage, 3, 9)
    assert verdict(effects) is Verdict.YES
    assert told(effects) == [3]
    # The unused part needs no room.
    assert ordered(effects) == {}
    effects = give_way(stage, 3)
    assert stage.states() == {1: "waiting", 2: "running", 3: "waiting"}
    assert (ReportKind.HELD_UP, 3) in reports(effects)
    # Nor may the other: the hope is the first one, which has grown.
    effects = ask(stage, 2, 9)
    assert (verdict(effects), told(effects)) == (Verdict.YES, [2])
    assert granted(give_way(stage, 2)) == [1]
    assert granted(stage.leave(1)) == [3]
    assert granted(stage.leave(3)) == [2]


def test_it_is_said_why_somebody_waits() -> None:
    stage = crowd(19)
    effects = [*hand_over(stage, 1), *use(stage, 2)]
    texts = {e.client: e.text for e in effects if isinstance(e, Report)}
    assert texts[3] == (
        "has to wait: it has 0.0 GiB by now and may still grow, so no program would be sure to "
        "end any more: host_memory allows 0.0 GiB, and 0.0 GiB are taken; end programs, or raise "
        "host_memory; it goes on when other programs end or free memory"
    )


def test_who_has_gained_nothing_for_half_a_turn_has_grown_and_others_may_go_on() -> None:
    """Beside 6 bytes that need no more, and can end, the other may grow."""
    stage = crowd(19)
    hand_over(stage, 1)
    use(stage, 2)
    roster, begun = stage.device.roster, stage.now
    assert held_up_clients(roster) == [roster.clients[3]]
    stage.fire(TimerKind.GROWTH)
    assert stage.now == begun + TURN / 2
    assert stage.states() == {1: "waiting", 2: "running", 3: "running"}


def test_who_gains_memory_again_is_growing_again() -> None:
    stage = crowd(19)
    hand_over(stage, 1)
    use(stage, 2)
    stage.now += TURN / 16
    ask(stage, 2, 7)
    begun = stage.now
    stage.fire(TimerKind.GROWTH)
    assert stage.now == begun + TURN / 2
    assert not stage.device.roster.clients[2].growth.growing
    ask(stage, 2, 8)
    assert stage.device.roster.clients[2].growth.growing


def test_who_grows_slowly_has_grown_after_several_of_its_longest_pauses() -> None:
    stage = crowd(19)
    hand_over(stage, 1)
    use(stage, 2)
    longest = TURN / 2
    for size, pause in ((7, TURN / 8), (8, longest), (9, TURN / 8)):
        stage.now += pause
        ask(stage, 2, size)
    begun = stage.now
    stage.fire(TimerKind.GROWTH)
    assert stage.now == begun + PAUSES * longest
    assert not stage.device.roster.clients[2].growth.growing


def test_who_rested_for_hours_before_it_gained_more_has_grown_after_minutes() -> None:
    client = Client(1, state=State.RUNNING, growth=Growth(growing=True))
    note_gain(client, 7, 10_000.0)
    assert client.growth.pace == 10_000.0
    assert next_calm(Settings(), [client]) == 10_000.0 + LONGEST_CALM


def test_a_pause_is_the_time_with_turns_between_two_gains() -> None:
    stage = limited(100, 14, turn_seconds=TURN)
    for client in (1, 2):
        stage.busy(client)
        # What passes before its first memory is no pause.
        stage.now += 1.0
        ask(stage, client, 10)
        use(stage, client)
    clients = stage.device.roster.clients
    assert stage.states() == {1: "running", 2: "yielding"}
    assert (clients[1].growth.pace, clients[2].growth.pace) == (0.0, 0.0)
    give_way(stage, 2)
    begun = stage.now
    hand_over(stage, 1)
    turn = stage.now - begun
    assert stage.states() == {1: "waiting", 2: "running"}
    # The time in which it waits for its turn does not count.
    hand_over(stage, 2)
    assert stage.states() == {1: "running", 2: "waiting"}
    stage.now += 1.5
    ask(stage, 1, 11)
    # The other had come to the device a second after its first memory.
    assert clients[1].growth.pace == 1.0 + turn + 1.5


def test_a_pause_goes_on_while_a_rank_rests_in_the_turn_of_its_gang() -> None:
    """Its turn before the rest is counted once."""
    settings = Settings(turn_seconds=TURN)
    growth = Growth(growing=True, pace=2.0, calm_since=10.0)
    rank = Client(1, state=State.RUNNING, growth=growth, turn=Turn(granted_at=10.0))
    assert next_calm(settings, [rank]) == 10.0 + PAUSES * 2.0
    rank.gang.rests, rank.rest.since, rank.work.held_before = True, 13.0, 3.0
    assert next_calm(settings, [rank]) == 10.0 + PAUSES * 2.0


def test_nobody_waits_for_one_that_has_nothing_to_run() -> None:
    stage = limited(10, 14)
    stage.join(1)
    ask(stage, 1, 9)
    use(stage, 1)
    memory = Memory(12, 0, 12, untouched=9, kept=3)
    stage.core.handle(ClientJoined(now=stage.now, client=2, device=GPU, memory=memory, turn=1))
    stage.want(2)
    assert granted(stage.release(1)) == []
    begun = stage.now
    assert granted(stage.fire(TimerKind.GROWTH)) == [2]
    assert stage.now == begun + ABSENCE


def test_where_nobody_is_sure_to_end_already_those_run_who_can() -> None:
    stage = limited(3, 14)
    for client, size in ((1, 8), (2, 4)):
        stage.join(client)
        ask(stage, client, size)
        use(stage, client)
    assert told(ask(stage, 2, 7)) == [2]
    give_way(stage, 2)
    effects = ask(stage, 1, 10)
    assert (verdict(effects), told(effects)) == (Verdict.YES, [])
    assert stage.states() == {1: "running", 2: "waiting"}


def test_who_has_grown_runs_wherever_it_can() -> None:
    """Then none of its memory could leave, and so it runs to its end."""
    stage = limited(20, 14, turn_seconds=TURN)
    for client in (1, 2, 3):
        stage.busy(client, 11)
    hand_over(stage, 1)
    hand_over(stage, 2)
    assert stage.states() == {1: "waiting", 2: "waiting", 3: "running"}


def test_while_everything_fits_nobody_is_held_back_however_small_the_host_is() -> None:
    stage = limited(0, 14)
    for client in (1, 2, 3):
        stage.join(client)
        assert told(ask(stage, client, 4)) == []
        use(stage, client)
    assert set(stage.states().values()) == {"running"}


def test_one_that_runs_is_no_hope_if_its_end_would_not_help() -> None:
    stage = limited(0, 16)
    stage.join(1, 2)
    stage.join(2, 6)
    stage.join(3, 6)
    assert verdict(ask(stage, 2, 11)) is Verdict.YES
    give_way(stage, 2)
    # When 1 has ended, each would still need the memory that the other has used.
    assert verdict(ask(stage, 3, 12)) is Verdict.HOST_FULL
    assert verdict(ask(stage, 3, 10)) is Verdict.YES
