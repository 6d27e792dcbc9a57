"""Listeners of a trace, their cost, and what they may not see of others."""

import asyncio

import pytest

from nvshare.daemon.api import traces as tracing_module
from nvshare.daemon.api.traces import Traces
from nvshare.errors import BadInputError
from nvshare.telemetry.hiding import HIDDEN
from nvshare.telemetry.trace.items import Item, Level, Program, Spent, read_item

from ..stage import GIB, Stage


def items_of(lines: bytes) -> list[Item]:
    return [item for line in lines.splitlines() if line and (item := read_item(line))]


def test_nothing_is_recorded_while_nobody_listens(stage: Stage) -> None:
    traces = Traces(stage.node)
    times = stage.node.executor.times
    stage.join(GIB)
    assert times._recorder is None
    listener = traces._join(None)
    assert times._recorder is not None
    traces._leave(listener)
    assert times._recorder is None


def test_who_comes_later_is_told_who_is_there_and_nothing_of_before(stage: Stage) -> None:
    traces = Traces(stage.node)
    stage.join(GIB)
    first = traces._join(None)
    stage.run(asyncio.sleep(0.02))
    second = traces._join(None)
    began = traces._tell_until_now()
    stage.run(asyncio.sleep(0.02))
    now = traces._tell_until_now()
    for listener, least in ((first, 0.04), (second, 0.02)):
        items = items_of(listener.lines())
        (program,) = (item for item in items if isinstance(item, Program))
        assert (program.name, program.pid) == ("train.py", 7)
        spent = sum(item.end - item.begin for item in items if isinstance(item, Spent)) / 1e9
        assert least <= spent <= now - began + least
        assert [item.on_gpu >= GIB for item in items if isinstance(item, Level)][:1] == [True]


def test_names_of_others_are_hidden(stage: Stage) -> None:
    traces = Traces(stage.node)
    listeners = {uid: traces._join(uid) for uid in (None, 0, 1000)}
    stage.join(GIB)
    names = {
        uid: [item.name for item in items_of(listener.lines()) if isinstance(item, Program)]
        for uid, listener in listeners.items()
    }
    # The program belongs to user 0.
    assert names == {None: ["train.py"], 0: ["train.py"], 1000: [HIDDEN]}


def test_who_does_not_read_misses_something_and_costs_no_memory(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing_module, "MOST_ITEMS", 10)
    traces = Traces(stage.node)
    listener = traces._join(None)
    stage.join(GIB)
    for _ in range(50):
        stage.run(asyncio.sleep(0.001))
        traces._tell_until_now()
    assert listener.dropped > 20
    assert len(items_of(listener.lines())) == 10


def test_only_so_many_listen_at_a_time(stage: Stage) -> None:
    traces = Traces(stage.node)
    for _ in range(tracing_module.MOST_LISTENERS):
        traces._join(None)
    with pytest.raises(BadInputError, match="too many"):
        traces._join(None)
