from nvshare.daemon.tally import Tally


def test_waits_and_turns_add_up() -> None:
    tally = Tally()
    tally.begin_wait(10)
    tally.begin_wait(11)
    assert (tally.waited_until(13), tally.longest_wait_until(13)) == (3, 3)
    tally.begin_turn(15)
    assert (tally.turns, tally.waited) == (1, 5)
    assert tally.running_until(18) == 3
    # A want that crossed the grant is no wait.
    tally.begin_wait(16)
    assert tally.waiting_since is None
    tally.end_turn(20)
    tally.end_turn(30)
    tally.begin_wait(20)
    tally.begin_turn(22)
    assert (tally.turns, tally.waited, tally.longest_wait) == (2, 7, 5)
    assert (tally.running, tally.running_until(23)) == (5, 6)
    assert tally.waited_until(99) == 7


def test_a_turn_nobody_waited_for() -> None:
    tally = Tally()
    tally.begin_turn(1)
    assert (tally.turns, tally.waited) == (1, 0)
