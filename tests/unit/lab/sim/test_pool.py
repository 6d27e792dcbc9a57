from math import inf

import pytest

from nvshare.lab.sim.pool import Lane, Pool


def test_an_empty_pool_waits_for_nothing() -> None:
    assert Pool(Lane.IN).next() == (inf, None)


def test_all_get_on_at_the_same_rate() -> None:
    pool = Pool(Lane.IN)
    pool.start(1, 100.0)
    pool.start(2, 40.0)
    pool.rate = 10.0
    assert pool.next() == (4.0, 2)
    pool.advance(3.0)
    assert pool.next() == (1.0, 2)
    assert pool.stop(2) == pytest.approx(10.0)
    assert pool.stop(1) == pytest.approx(70.0)
    assert not pool


def test_what_is_left_can_be_seen_while_it_goes_on() -> None:
    pool = Pool(Lane.OUT)
    pool.rate = 2.0
    pool.start(1, 10.0)
    pool.advance(1.0)
    assert pool.left(1) == 8.0
    assert 1 in pool
    assert pool.next() == (4.0, 1)


def test_work_can_become_longer() -> None:
    pool = Pool(Lane.OUT)
    pool.rate = 2.0
    pool.start(1, 10.0)
    pool.advance(1.0)
    pool.extend(1, 4.0)
    assert pool.next() == (6.0, 1)
