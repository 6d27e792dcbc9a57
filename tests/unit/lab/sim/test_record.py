from nvshare.lab.sim.record import Kind, Record, Span


def test_waits_add_up_and_the_longest_is_kept() -> None:
    record = Record("p", 0, 1.0, spans=[])
    for begin, end in ((1.0, 3.0), (5.0, 6.0)):
        record.begin(Kind.WAIT, begin)
        record.begin(Kind.WAIT, begin + 0.5)
        assert record.end(Kind.WAIT, end) == end - begin
    assert (record.waited, record.longest_wait) == (3.0, 2.0)
    assert record.spans == [Span(Kind.WAIT, 1.0, 3.0), Span(Kind.WAIT, 5.0, 6.0)]


def test_what_did_not_begin_does_not_end() -> None:
    record = Record("p", 0, 0.0, spans=[])
    assert record.end(Kind.RUN, 1.0) == 0.0
    assert record.spans == []


def test_the_end_ends_everything() -> None:
    record = Record("p", 0, 0.0, spans=[])
    record.begin(Kind.RUN, 1.0)
    record.begin(Kind.IN, 2.0)
    record.end_all(4.0)
    assert record.spans == [Span(Kind.RUN, 1.0, 4.0), Span(Kind.IN, 2.0, 4.0)]


def test_speed_counts_from_the_first_iteration() -> None:
    record = Record("p", 0, 0.0, iterations=30, loop_began=5.0, loop_ended=15.0)
    assert record.iterations_per_s == 3.0
    assert Record("p", 0, 0.0).iterations_per_s == 0.0


def test_duration_of_one_that_has_not_ended() -> None:
    record = Record("p", 0, 2.0)
    assert record.duration(10.0) == 8.0
    record.ended = 5.0
    assert record.duration(10.0) == 3.0
