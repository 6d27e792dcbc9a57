from nvshare.lab.sim.placement import Placement


def test_the_least_loaded_first() -> None:
    placement = Placement(3)
    assert [placement.choose(None, 10) for _ in range(4)] == [0, 1, 2, 0]


def test_among_equally_many_the_one_with_less_memory() -> None:
    placement = Placement(2)
    placement.choose(0, 8)
    placement.choose(1, 3)
    assert placement.choose(None, 1) == 1


def test_a_wish_is_a_command_and_counts() -> None:
    placement = Placement(2)
    assert placement.choose(0, 1) == 0
    assert placement.choose(0, 1) == 0
    assert placement.choose(None, 1) == 1


def test_who_has_gone_does_not_count() -> None:
    placement = Placement(2)
    placement.choose(0, 5)
    placement.choose(1, 5)
    placement.gone(1, 5)
    assert placement.choose(None, 5) == 1
