from collections import Counter

from nvshare.core.effects import Verdict
from nvshare.daemon.clients.counters import Counters, Report


def test_waits_and_turns_add_up() -> None:
    counters = Counters()
    counters.begin_wait(10)
    counters.begin_wait(11)
    assert (counters.waited_until(13), counters.longest_wait_until(13)) == (3, 3)
    counters.begin_turn(15)
    assert (counters.turns, counters.waited) == (1, 5)
    assert counters.running_until(18) == 3
    # A want that crossed the grant is no wait.
    counters.begin_wait(16)
    assert counters.waiting_since is None
    counters.end_turn(20)
    counters.end_turn(30)
    counters.begin_wait(20)
    counters.begin_turn(22)
    assert (counters.turns, counters.waited, counters.longest_wait) == (2, 7, 5)
    assert (counters.running, counters.running_until(23)) == (5, 6)
    assert counters.waited_until(99) == 7


def test_a_turn_nobody_waited_for() -> None:
    counters = Counters()
    counters.begin_turn(1)
    assert (counters.turns, counters.waited) == (1, 0)


def test_what_a_client_tells_only_grows() -> None:
    counters = Counters()
    counters.tell(Report(busy_ns=10, launches=5, throttled_ns=0, gpu_ns=3), present_ns=100)
    counters.tell(Report(busy_ns=8, launches=6, throttled_ns=1, gpu_ns=0), present_ns=200)
    assert counters.told == Report(busy_ns=10, launches=6, throttled_ns=1, gpu_ns=3)


def test_what_was_before_it_came_is_its_own_and_not_for_the_sum() -> None:
    counters = Counters()
    # It reports more work than the time it has been here.
    counters.tell(Report(busy_ns=1000, launches=50, throttled_ns=3, gpu_ns=7), present_ns=20)
    counters.tell(Report(busy_ns=1010, launches=55, throttled_ns=4, gpu_ns=9), present_ns=30)
    assert counters.told.launches == 55
    counts = counters.counts(0)
    assert [counts[name] for name in ("busy_ns", "launches", "throttled_ns", "gpu_ns")] == [
        *(10, 5),
        *(1, 2),
    ]


def test_a_sum_is_the_same_whoever_goes_first() -> None:
    # Sevenths are no sums of powers of two: as floats, their sum depends on the order.
    present = [Counters(running=number / 7, moving=number / 7) for number in range(40)]
    expected = sum((Counter(one.counts(0)) for one in present), Counter[str]())
    departed: Counter[str] = Counter()
    while present:
        departed.update(present.pop(len(present) // 2).counts(0))
        assert sum((Counter(one.counts(0)) for one in present), Counter(departed)) == expected


def test_a_sum_grows_with_those_who_run_and_stays_when_they_go() -> None:
    counters, departed = Counters(), Counter[str]()
    counters.begin_turn(1)
    running = [counters.counts(now)["running_ns"] for now in (1, 2.5, 4)]
    assert running == [0, 1_500_000_000, 3_000_000_000]
    departed.update(counters.counts(4))
    assert (departed["running_ns"], departed["turns"], departed["clients"]) == (running[-1], 1, 1)


def test_refusals_are_counted_by_reason_and_only_grow() -> None:
    counters = Counters()
    counters.tell_refusals(over_limit=3, over_gpu=0)
    counters.tell_refusals(over_limit=2, over_gpu=1)
    counters.refuse(Verdict.HOST_FULL)
    counters.refuse(Verdict.HOST_FULL)
    assert counters.refusals == {"memory limit": 3, "size of the GPU": 1, "host full": 2}
    counts = counters.counts(0)
    assert [counts[why] for why in counters.refusals] == [3, 1, 2]
