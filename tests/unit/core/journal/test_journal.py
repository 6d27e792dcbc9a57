import json
from dataclasses import fields
from typing import Any, get_origin, get_type_hints

import pytest

from nvshare.core.effects import Effect, Grant, Handover, Revoke, Urgency
from nvshare.core.events import ClientJoined, ClientLeft, DeviceAdded, Event, Wanted
from nvshare.core.journal.journal import (
    EFFECTS,
    EVENTS,
    LINES_IN_ERRORS,
    Entry,
    Journal,
    read_entry,
    read_header,
    write_entry,
)
from nvshare.core.record.device import Snapshot
from nvshare.core.replay import replay

from ..stage import Stage


def example(kind: type[Any]) -> Any:
    """Make a value of a type with no field left at its default, as far as that is easy."""
    samples: dict[Any, Any] = {int: 7, float: 0.5, str: "x", bool: True}
    hints = get_type_hints(kind)
    values = {}
    for field in fields(kind):
        hint = hints[field.name]
        first = getattr(hint, "__args__", (hint,))[0]
        if get_origin(hint) is tuple:
            values[field.name] = (samples[first],)
        elif first in samples:
            values[field.name] = samples[first]
        else:
            values[field.name] = (
                list(first)[-1] if hasattr(first, "__members__") else example(first)
            )
    return kind(**values)


@pytest.mark.parametrize("kind", EVENTS.values())
def test_every_event_can_be_told(kind: type[Event]) -> None:
    entry = Entry(example(kind), ())
    assert read_entry(write_entry(entry)) == entry


@pytest.mark.parametrize("kind", EFFECTS.values())
def test_every_effect_can_be_told(kind: type[Effect]) -> None:
    entry = Entry(Wanted(now=1.0, client=1), (example(kind),))
    assert read_entry(write_entry(entry)) == entry


def test_a_line_can_be_read_by_a_person() -> None:
    entry = Entry(Wanted(now=1.5, client=2), (Revoke(1, 3, Urgency.WHEN_IDLE, idle_seconds=0.05),))
    assert json.loads(write_entry(entry)) == {
        "event": {"type": "Wanted", "now": 1.5, "client": 2},
        "effects": [
            {
                "type": "Revoke",
                "client": 1,
                "turn": 3,
                "urgency": "when idle",
                "idle_seconds": 0.05,
            }
        ],
    }


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(ValueError, match="no event or effect Surprise"):
        read_entry('{"event": {"type": "Surprise"}, "effects": []}')


def test_a_file_that_is_no_journal_is_refused() -> None:
    for line in ("{}", "[]", '{"journal": 99}'):
        with pytest.raises(ValueError, match="not a journal"):
            read_header(line)


def test_the_ring_keeps_at_least_what_it_should_and_at_most_twice_that() -> None:
    journal = Journal(Snapshot(), 10)
    for number in range(95):
        journal.record(Wanted(now=float(number), client=1), [])
        if journal.page_is_full:
            journal.turn_page(Snapshot())
    kept = [entry.event.now for entry in journal.entries]
    assert kept == [float(number) for number in range(80, 95)]


def test_the_journal_of_a_client_is_what_it_had_a_part_in() -> None:
    journal = Journal(Snapshot(), 10)
    journal.record(Wanted(now=1.0, client=1), [])
    journal.record(Wanted(now=2.0, client=2), [Grant(1, 1)])
    journal.record(Wanted(now=3.0, client=3), [Handover(2, 1, 1, 2)])
    journal.record(ClientLeft(now=4.0, client=3), [])
    assert [json.loads(line)["event"]["now"] for line in journal.about(1)] == [1.0, 2.0, 3.0]


def test_the_journal_of_a_client_begins_when_it_joined() -> None:
    journal = Journal(Snapshot(), 10)
    journal.record(ClientJoined(now=1.0, client=1, device="gpu"), [])
    journal.record(ClientLeft(now=2.0, client=1), [])
    journal.turn_page(Snapshot())
    journal.record(ClientJoined(now=3.0, client=1, device="gpu"), [])
    journal.record(ClientJoined(now=4.0, client=2, device="gpu"), [Grant(1, 1)])
    journal.turn_page(Snapshot())
    journal.record(Wanted(now=5.0, client=1), [])
    assert [json.loads(line)["event"]["now"] for line in journal.about(1)] == [3.0, 4.0, 5.0]


def test_only_the_last_of_a_long_journal_is_told() -> None:
    journal = Journal(Snapshot(), 100)
    for number in range(50):
        journal.record(Wanted(now=float(number), client=1), [])
    told = [json.loads(line)["event"]["now"] for line in journal.about(1)]
    assert told == [float(number) for number in range(50 - LINES_IN_ERRORS, 50)]


def test_a_journal_without_a_beginning_starts_with_nothing() -> None:
    journal = Journal(Snapshot(), 10)
    journal.record(DeviceAdded(now=0.0, device="gpu", usable_bytes=1), [])
    assert next(journal.lines()) == '{"journal": 1}'


def test_a_journal_whose_beginning_is_forgotten_can_still_be_replayed() -> None:
    stage = Stage(journal_events=4)
    for client in range(1, 12):
        stage.busy(client, 6)
    lines = list(stage.core.journal.lines())
    assert "start" in json.loads(lines[0])
    assert len(lines) <= 9
    assert replay(lines) == []
