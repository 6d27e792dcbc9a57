from nvshare.cli.lab.bench.handover import _ends, _pair

LOG = b"x\nGPU 0: turn 7 ended at 5000 ns\nGPU 0: turn 8 began\nGPU 1: turn 9 ended at 2000 ns\n"


def test_ends_are_read_from_the_log_in_order() -> None:
    assert _ends(LOG) == [2000, 5000]


def test_a_hand_over_is_from_an_end_to_the_first_kernel_after_it() -> None:
    assert _pair([1000, 9000], [3500, 4000, 9100]) == [2.5, 0.1]


def test_an_end_that_nobody_computes_after_is_none() -> None:
    assert _pair([1000, 2000], [2700]) == [0.7]
