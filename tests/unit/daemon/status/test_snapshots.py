"""The cost of a snapshot of many programs, by counts of work: an hour has 3,600 of them.

Times are in docs/benchmarks.md; a machine that is busy with something else must not decide a test.
"""

import pwd
from collections import Counter
from typing import Any

import pytest

import nvshare.users
from nvshare.core.effects import Verdict
from nvshare.daemon.clients.last_minute import LastMinute
from nvshare.daemon.status import describe_client, describe_group
from nvshare.daemon.status.snapshots import Snapshots
from nvshare.settings import ClientLimits
from nvshare.telemetry import exporter
from nvshare.telemetry.exporter import expose
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus, Recent

from ..counting import calls_of
from ..stage import GIB, Stage

MANY = 8


@pytest.fixture
def full(stage: Stage) -> Stage:
    for _ in range(MANY):
        stage.join(GIB)
    assert len(stage.node.clients) == MANY
    return stage


def test_a_program_more_costs_the_same_whoever_else_is_there(full: Stage) -> None:
    snapshots = Snapshots(full.node, 0.0)

    def cost() -> int:
        snapshots.take()
        return calls_of(snapshots.take)

    with_many = cost()
    full.join(GIB)
    # Most functions behind a snapshot are called once or twice for a program.
    assert with_many / MANY < 100
    assert cost() - with_many <= 1.2 * with_many / MANY


def test_a_scrape_does_not_work_out_the_past_of_programs(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = Snapshots(full.node, 0.0)
    known = snapshots.take()

    def refuse(*_: object) -> Any:
        raise AssertionError("Prometheus keeps the past itself")

    monkeypatch.setattr(LastMinute, "recent", refuse)
    with pytest.raises(AssertionError, match="Prometheus"):
        snapshots.take()
    scraped = snapshots.take(past=False)
    assert all(client.recent == Recent() for client in scraped.clients)
    assert [client.id for client in scraped.clients] == [client.id for client in known.clients]


def test_what_does_not_change_is_worked_out_once(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    for module, name in ((describe_client, "wish_for"), (describe_group, "name_of")):
        make = getattr(module, name)

        def note(*arguments: Any, make: Any = make, name: str = name) -> Any:
            made.append(name)
            return make(*arguments)

        monkeypatch.setattr(module, name, note)
    snapshots = Snapshots(full.node, 0.0)
    first = snapshots.take()
    assert Counter(made) == {"wish_for": MANY, "name_of": 1}
    made.clear()
    second = snapshots.take()
    assert made == []
    assert second.groups == first.groups
    # A changed limit changes all of them, because all are of one group.
    full.limit(memory_limit=9 * GIB)
    third = snapshots.take()
    assert Counter(made) == {"wish_for": MANY, "name_of": 1}
    assert {client.limits.memory_limit for client in third.clients} == {9 * GIB}
    assert [group.limits.memory_limit for group in third.groups] == [9 * GIB]


def test_whoever_is_gone_is_forgotten(full: Stage) -> None:
    snapshots = Snapshots(full.node, 0.0)
    snapshots.take()
    full.clients.pop().close()
    full.turn()
    assert len(snapshots.take().clients) == MANY - 1
    assert len(snapshots._clients._steady._before) == MANY - 1


def test_a_snapshot_stays_what_it_was(full: Stage) -> None:
    status = Snapshots(full.node, 0.0).take()
    before = status.model_dump()
    for client in full.node.clients.all():
        client.counters.refuse(Verdict.HOST_FULL)
        client.counters.turns += 1
    assert status.model_dump() == before


def test_who_a_user_is_and_what_limits_there_are_is_not_worked_out_again(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvshare.users, "_names", {})
    snapshots = Snapshots(full.node, 0.0)
    snapshots.take()

    def refuse(*_: object) -> Any:
        raise AssertionError("this was known")

    monkeypatch.setattr(pwd, "getpwuid", refuse)
    monkeypatch.setattr(ClientLimits, "model_validate", refuse)
    assert len(snapshots.take().clients) == MANY


def test_what_is_not_checked_is_right_all_the_same(full: Stage) -> None:
    status = Snapshots(full.node, 0.0).take()
    assert NodeStatus.model_validate_json(status.model_dump_json()) == status
    for client in status.clients:
        assert list(client.model_dump()) == list(ClientStatus.model_fields)


def test_foreign_text_is_escaped_once_for_a_program(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = Snapshots(full.node, 0.0).take()
    escaped: Counter[str] = Counter()
    escape = exporter._escaped

    def counting(text: str) -> str:
        escaped[text] += 1
        return escape(text)

    monkeypatch.setattr(exporter, "_escaped", counting)
    text, _ = expose(status, "")
    assert text.count(b'program="train.py"') > 30 * MANY
    assert escaped["train.py"] <= MANY + 1
