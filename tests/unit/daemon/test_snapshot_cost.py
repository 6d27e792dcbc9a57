"""What a snapshot of many programs costs, by counts of work: an hour has 3,600 of them.

Times are in docs/looking.md; a machine that is busy with something else must not decide a test.
"""

import pwd
import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest

import nvshare.users
from nvshare.daemon.status import describe_node
from nvshare.settings import ClientLimits
from nvshare.telemetry import exporter
from nvshare.telemetry.exporter import expose
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

from .stage import GIB, Stage

MANY = 8


@pytest.fixture
def full(stage: Stage) -> Stage:
    for _ in range(MANY):
        stage.join(GIB)
    assert len(stage.node.sessions) == MANY
    return stage


def calls_of(work: Any) -> int:
    """Return how many functions a piece of work calls that are written in Python."""
    counts: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            counts[frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counts.total()


def test_a_program_more_costs_the_same_whoever_else_is_there(full: Stage) -> None:
    def cost() -> int:
        return calls_of(lambda: describe_node(full.node, 0.0))

    cost()
    with_many = cost()
    full.join(GIB)
    # Most of what a snapshot is made of is called once or twice for a program.
    assert with_many / MANY < 200
    assert cost() - with_many <= 1.2 * with_many / MANY


def test_who_a_user_is_and_what_limits_there_are_is_not_worked_out_again(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvshare.users, "_names", {})
    describe_node(full.node, 0.0)

    def refuse(*_: object) -> Any:
        raise AssertionError("this was known")

    monkeypatch.setattr(pwd, "getpwuid", refuse)
    monkeypatch.setattr(ClientLimits, "model_validate", refuse)
    assert len(describe_node(full.node, 0.0).clients) == MANY


def test_what_is_not_checked_is_right_all_the_same(full: Stage) -> None:
    status = describe_node(full.node, 0.0)
    assert NodeStatus.model_validate_json(status.model_dump_json()) == status
    for client in status.clients:
        assert list(client.model_dump()) == list(ClientStatus.model_fields)


def test_foreign_text_is_escaped_once_for_a_program(
    full: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = describe_node(full.node, 0.0)
    escaped: Counter[str] = Counter()
    escape = exporter._escaped

    def counting(text: str) -> str:
        escaped[text] += 1
        return escape(text)

    monkeypatch.setattr(exporter, "_escaped", counting)
    text, _ = expose(status, "")
    assert text.count(b'program="train.py"') > 30 * MANY
    assert escaped["train.py"] <= MANY + 1
