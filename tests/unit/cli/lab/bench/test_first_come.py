"""The waits of requests that are served as they come, computed by hand."""

import pytest

from nvshare.cli.lab.bench.first_come import Machine, Request, Served, serve

GB = 10**9


def test_the_first_brings_all_of_its_memory_and_keeps_it_while_there_is_room() -> None:
    machine = Machine(room=10 * GB, taken=0, bus=8.0 * GB)
    served = serve([Request(1.0, 0, 0.2), Request(5.0, 0, 0.2)], [4 * GB], machine)
    assert served == [Served(0.5, 0.5, 0.0), Served(0.0, 0.0, 0.0)]


def test_who_comes_while_another_is_served_waits_for_it() -> None:
    machine = Machine(room=10 * GB, taken=0, bus=10.0 * GB)
    requests = [Request(1.0, 0, 2.0), Request(2.0, 1, 1.0), Request(2.5, 0, 1.0)]
    first, second, third = serve(requests, [4 * GB, 5 * GB], machine)
    assert first.wait == pytest.approx(0.4)
    # The first is done at 3.4; the second, which has half a second to move, at 4.9.
    assert second.wait == pytest.approx(1.4 + 0.5)
    assert third.wait == pytest.approx(4.9 - 2.5)
    assert (second.move, third.move) == (0.5, 0.0)


def test_who_was_served_longest_ago_makes_room_and_only_as_much_as_is_needed() -> None:
    machine = Machine(room=10 * GB, taken=0, bus=1.0 * GB)
    requests = [Request(100.0 * number, who, 1.0) for number, who in enumerate((1, 0, 2, 0, 1))]
    moves = [one.move for one in serve(requests, [4 * GB] * 3, machine)]
    # The third to come has pushed out 2 GB of the first to come; the second has stayed.
    assert moves == [4.0, 4.0, 4.0, 0.0, 2.0]


def test_others_have_their_memory_back_whenever_nobody_asks() -> None:
    machine = Machine(room=14 * GB, taken=12 * GB, bus=1.0 * GB)
    first, second, third = serve(
        [Request(10.0, 0, 1.0), Request(50.0, 0, 1.0), Request(50.5, 0, 1.0)], [8 * GB], machine
    )
    assert (first.move, first.back) == (8.0, 0.0)
    # 2 GB have room beside the 12.
    assert (second.move, second.back) == (6.0, 6.0)
    assert (third.move, third.back) == (0.0, 0.0)


def test_what_never_fits_beside_others_leaves_all_of_its_room() -> None:
    machine = Machine(room=10 * GB, taken=12 * GB, bus=1.0 * GB)
    _, second = serve([Request(10.0, 0, 1.0), Request(50.0, 0, 1.0)], [8 * GB], machine)
    assert (second.move, second.back) == (8.0, 8.0)
