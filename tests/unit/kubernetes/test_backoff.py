from nvshare.kubernetes.backoff import Backoff


def test_pauses_double_up_to_a_bound_and_begin_anew() -> None:
    backoff = Backoff(1, 5, chance=lambda: 0.0)
    assert [backoff.pause() for _ in range(4)] == [1, 2, 4, 5]
    backoff.reset()
    assert backoff.pause() == 1


def test_chance_takes_off_up_to_a_half() -> None:
    assert Backoff(4, 8, chance=lambda: 1.0).pause() == 2
    assert Backoff(4, 8, chance=lambda: 0.5).pause() == 3
