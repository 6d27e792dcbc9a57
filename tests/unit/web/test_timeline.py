"""From snapshots to the picture: how programs spent the time between two of them."""

from nvshare.telemetry.snapshot import TimeParts
from nvshare.web.timeline import KEPT, Timeline

from ..telemetry.making import GIB, make_client, make_node


def spent(**parts: float) -> TimeParts:
    return TimeParts(**parts)


def test_a_sample_is_the_difference_between_two_snapshots() -> None:
    timeline = Timeline()
    timeline.add(1000, make_node(make_client(1, attribution=spent(computing=10, waiting=5))))
    assert timeline.after(0) == ()
    later = spent(computing=10.25, waiting=5.5, memory_in=0.25)
    there = {"allocated": 12 * GIB, "swapped_out": 5 * GIB}
    timeline.add(2000, make_node(make_client(1, attribution=later, **there)))
    (sample,) = timeline.after(0)
    assert (sample.since, sample.until) == (1000, 2000)
    assert sample.programs == {1: (25, 50, 0, 25, 0, 0, 0, 7 * 1024, 5 * 1024)}


def test_who_has_just_come_is_seen_from_its_beginning() -> None:
    timeline = Timeline()
    timeline.add(1000, make_node(make_client(1)))
    timeline.add(2000, make_node(make_client(1), make_client(2, attribution=spent(idle=0.4))))
    (sample,) = timeline.after(0)
    assert sample.programs[2][:7] == (0, 0, 0, 0, 0, 0, 100)
    # No time has passed for the other one: there is no division by zero.
    assert sample.programs[1][:7] == (0, 0, 0, 0, 0, 0, 0)


def test_one_is_told_what_one_has_not_been_told() -> None:
    timeline = Timeline()
    for second in range(4):
        timeline.add(1000 * second, make_node(make_client(1)))
    assert [one.until for one in timeline.after(1000)] == [2000, 3000]
    assert timeline.after(3000) == ()


def test_who_has_gone_keeps_its_lane_as_long_as_there_is_something_in_it() -> None:
    timeline = Timeline()
    timeline.add(0, make_node(make_client(1), make_client(2)))
    timeline.add(1000, make_node(make_client(1), make_client(2)))
    timeline.add(2000, make_node(make_client(2)))
    assert {one.id: one.is_gone for one in timeline.lanes()} == {1: True, 2: False}
    for moment in range(3000, KEPT + 4000, 1000):
        timeline.add(moment, make_node(make_client(2)))
    assert [one.id for one in timeline.lanes()] == [2]
    assert len(timeline.after(0)) <= KEPT // 1000 + 1


def test_what_nobody_has_looked_at_is_left_open() -> None:
    timeline = Timeline()
    timeline.add(0, make_node(make_client(1)))
    timeline.add(60_000, make_node(make_client(1)))
    assert timeline.after(0) == ()


def test_another_daemon_begins_anew() -> None:
    timeline = Timeline()
    timeline.add(0, make_node(make_client(1)))
    timeline.add(1000, make_node(make_client(1)))
    other = make_node(make_client(1)).model_copy(update={"pid": 2})
    timeline.add(2000, other)
    assert timeline.after(0) == ()
    assert [one.is_gone for one in timeline.lanes()] == [False]
