"""The small cases hold, and deliberate mistakes are found."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from click.testing import CliRunner

from nvshare.core import core as core_module
from nvshare.core.clients.roster import Roster
from nvshare.core.device import rules
from nvshare.core.events import TimerKind
from nvshare.core.gangs import give_way
from nvshare.core.gangs.gang import Change
from nvshare.core.memory import Load
from nvshare.core.policies.fair import Fair
from nvshare.core.replay import replay
from nvshare.core.turns import handover

from . import properties
from .__main__ import main
from .case import Case
from .cases import sizes_of
from .forget import COSTLY
from .journal import play
from .search import Found, Search
from .telling import tell
from .waiting import Waits
from .world import Kind

TWO = Case((2, 2), 0, is_restless=True)
# Two gangs on two GPUs, of which each needs all.
GANGS = Case((2, 2, 2, 2), 0, gangs="aabb", is_restless=True)


@pytest.mark.parametrize(
    ("sizes", "is_explicit"), [((1, 2), False), ((2, 2), False), ((2, 2), True)]
)
def test_two_programs_and_a_fault(sizes: tuple[int, ...], is_explicit: bool) -> None:
    found = Search(Case(sizes, 1, is_restless=True, is_explicit=is_explicit)).run()
    assert found.problem == ""
    assert found.worlds > 1000


def test_two_programs_whose_messages_come_in_every_order() -> None:
    found = Search(Case((2, 2), 0, any_order=True, is_restless=True)).run()
    assert found.problem == ""
    assert found.worlds > 100


@pytest.mark.parametrize("sizes", sizes_of(3), ids=str)
def test_three_programs_have_their_turns(sizes: tuple[int, ...]) -> None:
    # Equal programs differ in when they connect.
    for place in range(len(sizes)):
        found = Search(Case(sizes, 0, is_restless=True), waits=Waits(place)).run()
        assert found.problem == ""
        # Two others may have whole turns of two seconds before it.
        assert 0 < found.longest_wait <= 8


@pytest.mark.parametrize("sizes", [(1, 2), (2, 2)])
def test_two_programs_whose_visits_cost_something(sizes: tuple[int, ...]) -> None:
    case = Case(sizes, 1, is_restless=True, settings=COSTLY)
    found = Search(case, waits=Waits(0)).run()
    assert found.problem == ""
    assert 0 < found.longest_wait <= 4


def test_somebody_who_is_late_is_waited_for_only_so_long() -> None:
    found = Search(Case((2, 2), 0, lates=1, is_restless=True), waits=Waits(0)).run()
    assert found.problem == ""
    assert found.longest_wait < inf


def test_explicit_memory_that_comes_while_a_daemon_is_greeted_late() -> None:
    # All of it is 52,000 worlds. Within these the client's part has to hold.
    case = Case((2, 2), 1, lates=1, is_explicit=True, is_restless=True)
    found = Search(case, most=8000).run()
    assert found.problem == ""


def test_worlds_that_differ_in_names_only_are_one() -> None:
    """Of two equal programs, the order makes no difference."""
    equal, marked = Search(TWO).run(), Search(TWO, waits=Waits(0)).run()
    assert equal.worlds < marked.worlds


def _without_timer(kind: TimerKind) -> Callable[..., dict[TimerKind, float]]:
    alarms = rules._alarms

    def without(*args: Any) -> dict[TimerKind, float]:
        return {one: at for one, at in alarms(*args).items() if one is not kind}

    return without


def _believe_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the core's own checks, so that the model's have to find the mistake."""
    monkeypatch.setattr(core_module, "validate", lambda *_: None)


def test_who_is_let_in_without_room_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is not checked: found, told, and kept as a journal that shows the same."""
    _believe_the_core(monkeypatch)
    # Memory is not checked either: gates are.
    monkeypatch.setattr(properties, "_is_spilled", lambda *_: True)
    monkeypatch.setattr(Load, "admits", lambda *_: True)
    found = Search(TWO).run()
    assert "run at once, and need 4 units of 2" in found.problem
    lines = list(tell(found.case, found.path, found.problem))
    assert any("Grant" in line for line in lines)
    assert any(line.startswith("     Here it fails: ") for line in lines)
    problem, journal = play(found.case, found.path)
    assert problem == found.problem
    assert replay(journal) == []


def test_the_core_finds_that_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Load, "admits", lambda *_: True)
    assert "do not fit together" in Search(TWO).run().problem


def test_who_fills_before_there_is_room_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _believe_the_core(monkeypatch)
    monkeypatch.setattr(Roster, "missing", property(lambda _: 0))
    monkeypatch.setattr(handover, "missing_bytes", lambda *_: 0)
    assert Search(TWO).run().problem == "4 units of memory are on a GPU that has 2"


def test_who_waits_for_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _believe_the_core(monkeypatch)
    monkeypatch.setattr(rules, "_alarms", _without_timer(TimerKind.TURN))
    assert "nothing is on its way, and no timer runs" in Search(TWO).run().problem


def test_who_waits_for_ever_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client that was served last is served first: two alternate, and the third waits."""
    _believe_the_core(monkeypatch)
    monkeypatch.setattr(Fair, "rank", lambda _self, client, *_: -client.precedence.served_at)
    case = Case((2, 2, 2), 0, is_restless=True)
    waits = [Search(case, waits=Waits(place)).run() for place in range(3)]
    (found,) = (one for one in waits if one.longest_wait == inf)
    assert found.problem.endswith(" may wait for ever")


def test_faults_are_of_every_kind() -> None:
    seen: set[Kind] = set()

    class Watching(Case):
        def follow(self, world: Any, step: Any) -> Any:
            seen.add(step.kind)
            return super().follow(world, step)

    found: Found = Search(Watching((1, 2), 1, lates=1, is_restless=True), most=4000).run()
    assert found.problem == ""
    assert seen == set(Kind)


def test_the_command_says_how_much_there_was() -> None:
    result = CliRunner().invoke(main, ["--clients", "2", "--crashes", "0", "--most", "300"])
    assert result.exit_code == 0
    assert "CUT SHORT" in result.output


@pytest.mark.parametrize("place", range(4))
def test_two_gangs_have_their_turns(place: int) -> None:
    found = Search(GANGS, waits=Waits(place)).run()
    assert found.problem == ""
    # The other gang's turn, and a little time to catch up with each other.
    assert 2 <= found.longest_wait < 2.1


def test_a_gang_and_a_program_alone_with_a_fault() -> None:
    # All of it takes minutes.
    found = Search(Case((2, 2, 2), 1, gangs="aa.", is_restless=True), most=1500).run()
    assert found.problem == ""


def test_ranks_that_do_not_catch_up_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody steps: a rank waits for another one on the GPU until others go on without it."""
    monkeypatch.setattr(give_way, "step", lambda *_: Change())
    monkeypatch.setattr(rules, "next_step", lambda _roster: inf)
    _believe_the_core(monkeypatch)
    assert "go on without process" in Search(GANGS).run().problem
